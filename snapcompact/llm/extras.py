"""Optional dependencies, imported when first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from snapcompact.errors import MissingExtraError


def need(module: str, extra: str) -> Any:
    """`module`, imported. Raises MissingExtraError that names the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"this needs the package {module.partition('.')[0]}, which is not installed "
            f"({error}); install it with: pip install 'snapcompact[{extra}]'"
        ) from error
