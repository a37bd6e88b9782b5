"""The work of ``snapcompact sessions``, and the way to name a session by its id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from snapcompact.cli.console import note, progress, say, say_json, size, table
from snapcompact.errors import UnknownNameError
from snapcompact.history.formats import by_name
from snapcompact.history.sessions import Description, Found, describe, find, named
from snapcompact.history.source import Source

SAMPLE_BYTES = 128 << 10
"""Start of a session whose tokens a byte stand for the whole's in the list."""

_TITLE_CHARACTERS, _PROJECT_CHARACTERS = 48, 32


@dataclass(frozen=True, slots=True)
class Row:
    """A session of the list. ``tokens`` are estimated from the file's start, its JSON included."""

    found: Found
    about: Description
    tokens: int


def run_sessions(
    root: Path | None, *, limit: int, format_name: str | None, as_json: bool, quiet: bool
) -> None:
    """Print the sessions found, newest first."""
    wanted = by_name(format_name).name if format_name else None
    listed = [found for found in find(root) if wanted in (None, found.format)]
    shown = listed[:limit] if limit else listed
    with progress("Reading", "sessions", quiet=quiet) as bar:
        bar.total(len(shown))
        rows = []
        for found in shown:
            rows.append(Row(found, describe(found), tokens_of(found)))
            bar.advance()
    if as_json:
        say_json(list(map(_as_dict, rows)))
        return
    head = ["modified", "format", "size", "tokens", "id", "project", "title"]
    for line in table(head, list(map(_cells, rows))) if rows else ():
        say(line)
    if len(listed) > len(shown):
        note(f"{len(listed) - len(shown):,} older ones are not shown; --limit 0 shows all")
    if not rows:
        note(f"no session found {f'below {root}' if root else 'in the usual places'}")


def tokens_of(found: Found) -> int:
    """Tokens of the session's file, estimated from the start of it; 0 where it is packed."""
    from snapcompact.tokens.estimate import estimate_tokens

    head = Source(str(found.path), found.path).head(SAMPLE_BYTES)
    if not head or found.path.name.endswith((".zst", ".gz", ".zip", ".db")):
        return 0
    return round(estimate_tokens(head) * found.size / len(head))


def named_session(name: str) -> Path:
    """The file of the session whose id or file name begins with `name`, in the usual places.

    Raises UnknownNameError where there is none, or more than one.
    """
    return named(find(), name).path


def session_path(name: str) -> Path:
    """The file `name`, or where there is none the session with that id in the usual places."""
    path = Path(name)
    if path.exists() or path.suffix or path.parent != Path():
        return path
    return named_session(name)


def latest_session() -> Path:
    """The newest session in the usual places. Raises UnknownNameError where there is none."""
    listed = find()
    if not listed:
        raise UnknownNameError("no session found in the usual places; name a file")
    return listed[0].path


def _cells(row: Row) -> Sequence[object]:
    moment = datetime.fromtimestamp(row.found.modified).astimezone()
    return [
        moment.strftime("%Y-%m-%d %H:%M"),
        row.found.format,
        size(row.found.size),
        row.tokens,
        row.about.id[:36],
        _shortened(row.about.project, _PROJECT_CHARACTERS, end=True),
        _shortened(row.about.title, _TITLE_CHARACTERS),
    ]


def _shortened(text: str, most: int, *, end: bool = False) -> str:
    """`text` in at most so many characters: its start, or its `end`."""
    if len(text) <= most:
        return text
    return f"…{text[1 - most :]}" if end else f"{text[: most - 1]}…"


def _as_dict(row: Row) -> dict[str, Any]:
    from snapcompact.tokens.estimate import DEFAULT_FAMILY

    return {
        "path": str(row.found.path),
        "format": row.found.format,
        "bytes": row.found.size,
        "modified": datetime.fromtimestamp(row.found.modified, UTC).isoformat(),
        "id": row.about.id,
        "title": row.about.title,
        "project": row.about.project,
        "tokens": row.tokens,
        "tokens_family": DEFAULT_FAMILY,
    }
