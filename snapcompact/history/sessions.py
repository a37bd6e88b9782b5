"""Sessions on this machine: in the tools' usual places, or anywhere below a folder.

Finding looks at names and sizes alone; :func:`describe` reads the start of one file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from snapcompact.errors import SnapcompactError, UnknownNameError
from snapcompact.files import disk_errors, home_dir
from snapcompact.history.detect import detect
from snapcompact.history.formats import TEXT, Format, table
from snapcompact.history.session import open_session
from snapcompact.history.source import open_source

HEAD_BYTES = 256 << 10
"""Read of a file to describe it; the first prompt lies within the first few kilobytes."""

WHOLE_BYTES = 8 << 20
"""A JSON document up to this size is read whole to describe it."""

ENDINGS = (".jsonl", ".json", ".jsonl.zst", ".jsonl.gz", ".md", ".db", ".zip")
"""Names looked at below a folder."""

_MOVED = {
    ".claude/": "CLAUDE_CONFIG_DIR",
    ".codex/": "CODEX_HOME",
    ".local/share/": "XDG_DATA_HOME",
}
"""Folders below home that a variable of the tool's moves elsewhere."""


@dataclass(frozen=True, slots=True)
class Found:
    """A session file. ``modified`` is in seconds since 1970, ``size`` in bytes as on disk."""

    path: Path
    format: str
    size: int
    modified: float


@dataclass(frozen=True, slots=True)
class Description:
    """What the start of a session says of itself; empty where it does not."""

    id: str = ""
    title: str = ""
    project: str = ""


def find(
    root: Path | None = None,
    *,
    home: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> list[Found]:
    """Sessions, newest first: below folder `root`, told by content, else in the usual places.

    A file that vanishes or cannot be read is passed over; links are not followed. Raises DiskError
    where `root` cannot be listed.
    """
    if root is not None:
        found = _below(root)
    else:
        found = _usual(home_dir() if home is None else home, environ)
    unique = {session.path: session for session in found}
    return sorted(unique.values(), key=lambda session: (-session.modified, str(session.path)))


def named(sessions: Iterable[Found], name: str) -> Found:
    """The one of `sessions` whose id, or whose file's name, is or begins with `name`.

    Raises UnknownNameError where there is none, or more than one.
    """
    listed = list(sessions)
    exact = [session for session in listed if name in (_stem(session.path), session.path.name)]
    hits = exact or [session for session in listed if name in _stem(session.path)]
    hits = hits or [session for session in listed if describe(session).id.startswith(name)]
    if len(hits) == 1:
        return hits[0]
    if not hits:
        raise UnknownNameError(f"no session {name!r}; `snapcompact sessions` lists them")
    several = ", ".join(str(session.path) for session in hits[:3])
    raise UnknownNameError(f"{name!r} fits {len(hits)} sessions, such as {several}; say more of it")


def describe(session: Found) -> Description:
    """Id, title and project folder, from the start of the file alone; empty where it is damaged."""
    try:
        source = open_source(session.path)
        head = session.path if session.size <= HEAD_BYTES else source.head(HEAD_BYTES)
        if isinstance(head, bytes):
            head = session.path if _one_document(head, session) else head[: head.rfind(b"\n") + 1]
        with open_session(head, format=session.format) as opened:
            for _ in opened.messages():
                pass
    except SnapcompactError:
        return Description(_stem(session.path))
    info = opened.report.info
    project = info.get("cwd") or info.get("project", "")
    return Description(info.get("id") or _stem(session.path), info.get("title", ""), project)


def _one_document(head: bytes, session: Found) -> bool:
    """Whether the file must be read whole: a document or database, and not too large for that."""
    return session.size <= WHOLE_BYTES and b"\n{" not in head


def _stem(path: Path) -> str:
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name


def _usual(home: Path, environ: Mapping[str, str]) -> Iterator[Found]:
    for row in table():
        for place in row.places:
            base, pattern = _moved(home, place, environ)
            for path in base.glob(pattern):
                if (session := _session(path, row)) is not None:
                    yield session


def _moved(home: Path, place: str, environ: Mapping[str, str]) -> tuple[Path, str]:
    for folder, variable in _MOVED.items():
        if place.startswith(folder) and environ.get(variable):
            return Path(environ[variable]), place.removeprefix(folder)
    return home, place


def _below(root: Path) -> Iterator[Found]:
    with disk_errors("list", root):
        os.scandir(root).close()
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(ENDINGS):
                path = Path(folder, name)
                row = _told(path)
                if row is not None and (session := _session(path, row)) is not None:
                    yield session


def _told(path: Path) -> Format | None:
    """The format of the file, None for what is only text or cannot be read."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        row = detect(open_source(path))
    except SnapcompactError:
        return None
    return None if row.name == TEXT.name else row


def _session(path: Path, row: Format) -> Found | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    if not path.is_file() or path.is_symlink():
        return None
    return Found(path, row.name, status.st_size, status.st_mtime)
