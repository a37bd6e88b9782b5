"""Archives agent histories onto dense bitmap pages that machines read back.

The public API, loaded when first used, so that importing this package is cheap::

    session = snapcompact.open_session("session.jsonl")
    for message in session.messages(): ...
    snapcompact.write_archive(session, Path("out"))
    with snapcompact.open_archive("out") as archive:
        assert snapcompact.verify_archive(archive).sound
        original = b"".join(archive.source())          # every byte of the file
        transcript = b"".join(archive.transcript())    # from the pixels alone
        for row in archive.pages():
            png = archive.page_png(row)                # bytes of a PNG file
            pixels = archive.page_pixels(row)          # uint8 (height, width), 1 is ink
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snapcompact.archive.append import append_archive as append_archive
    from snapcompact.archive.fonts import Fonts as Fonts
    from snapcompact.archive.read import Archive as Archive
    from snapcompact.archive.read import open_archive as open_archive
    from snapcompact.archive.verify import verify_archive as verify_archive
    from snapcompact.archive.write import ArchiveOptions as ArchiveOptions
    from snapcompact.archive.write import write_archive as write_archive
    from snapcompact.errors import SnapcompactError as SnapcompactError
    from snapcompact.history.model import Message as Message
    from snapcompact.history.session import Session as Session
    from snapcompact.history.session import open_session as open_session
    from snapcompact.pages.shape import Shape as Shape
    from snapcompact.pages.shape import parse_shape as parse_shape
    from snapcompact.readback.lone import read_lone_pages as read_lone_pages
    from snapcompact.transcript.parse import parse_transcript as parse_transcript
    from snapcompact.transcript.write import write_transcript as write_transcript

_HOMES = {
    "Archive": "archive.read",
    "ArchiveOptions": "archive.write",
    "Fonts": "archive.fonts",
    "Message": "history.model",
    "Session": "history.session",
    "Shape": "pages.shape",
    "SnapcompactError": "errors",
    "append_archive": "archive.append",
    "open_archive": "archive.read",
    "open_session": "history.session",
    "parse_shape": "pages.shape",
    "parse_transcript": "transcript.parse",
    "read_lone_pages": "readback.lone",
    "verify_archive": "archive.verify",
    "write_archive": "archive.write",
    "write_transcript": "transcript.write",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - the table above is the list


def __getattr__(name: str) -> Any:
    """The public name `name`, imported from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__
