"""What every command says and how: results on stdout, all else on stderr.

Text from sessions goes through :func:`printable`, so that no escape code reaches the terminal; and
nothing is read as markup, so that brackets show as they are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol


class Progress(Protocol):
    """Told how far long work has come."""

    def advance(self, amount: int = 1) -> None:
        """`amount` more units are done."""

    def total(self, amount: int) -> None:
        """There are `amount` units in all."""


def printable(text: str) -> str:
    r"""`text` on one line without control characters, each shown as ``\xNN``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _clean(text: str) -> str:
    """`text` with what only a terminal would obey made visible; line ends and tabs stay."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text
    )


class ReaderGone(Exception):
    """The reader of our stdout has gone, as `head` does: nothing is wrong, and we are done."""


def say(line: str = "") -> None:
    """One line of results on stdout. Raises ReaderGone."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(_clean(line).encode(encoding, "backslashreplace").decode(encoding) + "\n")
    except BrokenPipeError as error:
        raise ReaderGone from error


def say_json(value: Any) -> None:
    """A result as JSON on stdout."""
    say(json.dumps(value, indent=2, ensure_ascii=True))


def warn(line: str, *, quiet: bool = False) -> None:
    """One warning on stderr, unless `quiet`."""
    if not quiet:
        note(f"warning: {line}")


def note(line: str) -> None:
    """One line on stderr; where nobody can read it, the work goes on and ends as it would."""
    encoding = sys.stderr.encoding or "utf-8"
    text = f"snapcompact: {_clean(line)}"
    with suppress(OSError):
        sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stderr.flush()


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lines of a table: columns aligned, numbers to the right."""
    texts = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(t[i]) for t in [list(head), *texts]) for i in range(len(head))]
    right = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        parts = [
            c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True)
        ]
        return "  ".join(parts).rstrip()

    return [line(list(head)), *map(line, texts)]


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return printable(str(value))


class _Silent:
    def advance(self, amount: int = 1) -> None:
        """Say nothing."""

    def total(self, amount: int) -> None:
        """Say nothing."""


@contextmanager
def progress(what: str, unit: str, *, quiet: bool = False) -> Iterator[Progress]:
    """A progress bar on stderr while the body runs; nothing where stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield _Silent()
        return
    from snapcompact.cli.bar import Bar

    with Bar(what, unit) as bar:
        yield bar


def counted(count: int, word: str) -> str:
    """``1 page``, ``2,000 pages``."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def size(count: int) -> str:
    """A count of bytes for people."""
    value = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{count:,} bytes" if unit == "bytes" else f"{value:,.1f} {unit}"
        value /= 1000
    raise AssertionError("unreachable")
