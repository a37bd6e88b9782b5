"""A history written as other programs and people read it, streamed.

``EXPORTS`` names the forms; each is a function from messages to the bytes of one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import MappingProxyType
from typing import cast

from snapcompact.errors import UnknownNameError
from snapcompact.history.model import Message

Exporter = Callable[[Iterable[Message]], Iterator[bytes]]

EXPORTS = MappingProxyType(
    {
        "anthropic": "a Messages request, fit for replay",
        "html": "one page for a browser, with its pictures, that runs and loads nothing",
        "json": "JSON Lines of messages, from which they can be read back exactly",
        "markdown": "Markdown for people",
        "openai": "a Chat Completions request, fit for replay",
    }
)
"""Forms, each a module of this package with a function ``export``. Sorted."""


def export(messages: Iterable[Message], to: str) -> Iterator[bytes]:
    """The file of `messages` in the form `to`, in pieces. Raises UnknownNameError."""
    if to not in EXPORTS:
        raise UnknownNameError(f"unknown form {to!r}; known: {', '.join(EXPORTS)}")
    exporter = cast("Exporter", import_module(f"{__name__}.{to}").export)
    return exporter(messages)
