"""The names of the files of an archive: the only ones that are ever read or written.

A name from a manifest or a row is compared with these patterns before anything else is done with
it, so no path of hostile input leads anywhere.
"""

from __future__ import annotations

import re

from snapcompact.errors import ArchiveError

MANIFEST = "manifest.json"
PAGES = "pages.jsonl"
MESSAGES = "messages.jsonl"
SOURCE = "source.zst"
RECORDS = "records.ids"
GUIDE = "guide.md"
GLYPHS = "glyphs.bdf"
SIDECAR = "sidecar.txt"
BLOBS = "blobs"

PAGES_PER_FOLDER = 10_000
"""File managers and shells stay usable at this many files in a folder."""
MOST_PAGES = 999_999_999

_PAGE = re.compile(r"pages/(?:\d{2,5}/)?(\d{6,9})(?:\.(\d{1,6}))?\.png")
_SMALL = re.compile(r"(glyphs|guide|sidecar)(?:\.(\d{1,6}))?\.(bdf|md|txt)")
_BLOB = re.compile(r"[0-9a-f]{64}")


def page_path(number: int, revision: int = 1) -> str:
    """Path of page `number` (from 1) inside the archive: ``pages/000001.png``.

    Pages from 10,000 on stand in ``pages/01/``, ``pages/02/``, …. A last page that was printed
    again because the history grew has its revision in the name, so that the page it replaces stays
    until the manifest names the new one.
    """
    folder = f"{number // PAGES_PER_FOLDER:02d}/" if number >= PAGES_PER_FOLDER else ""
    suffix = f".{revision}" if revision > 1 else ""
    return f"pages/{folder}{number:06d}{suffix}.png"


def page_revision(path: str, number: int) -> int:
    """Revision in a page's path; ArchiveError if it is not a path of page `number`."""
    match = _PAGE.fullmatch(path)
    if match is not None and len(path) < 64:
        revision = int(match[2] or 1)
        if path == page_path(number, revision):
            return revision
    raise ArchiveError(
        f"page {number}: {path[:80]!r} is not a page's path; expected {page_path(number)}"
    )


def revised(path: str, revision: int) -> str:
    """Path of a small file's revision: ``glyphs.bdf``, then ``glyphs.2.bdf``, ….

    A grown history that needs more glyphs writes a new file beside the old one, which counts until
    the manifest names the new one.
    """
    stem, _, ending = path.partition(".")
    return path if revision == 1 else f"{stem}.{revision}.{ending}"


def small_file(path: str) -> tuple[str, int] | None:
    """First name and revision of a file whose hash the manifest lists; None if `path` is none."""
    match = _SMALL.fullmatch(path)
    name = match and f"{match[1]}.{match[3]}"
    if match is None or name not in (GLYPHS, GUIDE, SIDECAR):
        return None
    return name, int(match[2] or 1)


def blob_path(sha256: str) -> str:
    """Path of the blob with this hash; ArchiveError if it is no hash."""
    if _BLOB.fullmatch(sha256) is None:
        raise ArchiveError(f"{sha256[:80]!r} is not the SHA-256 of a blob")
    return f"{BLOBS}/{sha256}"
