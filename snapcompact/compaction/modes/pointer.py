"""How a session names the archive of its past, and which messages of it are our own.

What a pass of ours puts into a session, pages and the words around them, is never the user's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snapcompact.history.model import Message

HEAD_START = "The conversation up to here was printed on pages, word for word"
"""How the summary begins that stands in front of pages."""

_POINTER = re.compile(
    r"snapcompact archive (?P<name>[^/\\\n\x00]{1,200}) \(manifest (?P<hash>[0-9a-f]{64})\)"
)


def pointer_text(name: str, manifest_sha256: str) -> str:
    """How a session names its archive, so that the next pass finds it."""
    return f"snapcompact archive {name} (manifest {manifest_sha256})"


def find_pointer(text: str) -> tuple[str, str] | None:
    """(name, hash of the manifest) of the archive that `text` names, None without one."""
    found = _POINTER.search(text)
    return (found["name"], found["hash"]) if found else None


def is_pages(message: Message) -> bool:
    """True for a message that a pass of ours put in: pages, or the summary in front of them."""
    text = message.text
    return text.startswith(HEAD_START) or (
        text.startswith("[") and _POINTER.match(text, 1) is not None
    )
