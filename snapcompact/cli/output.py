"""Results that are bytes: to a file, whole or not at all, or to stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from snapcompact.cli.console import ReaderGone
from snapcompact.errors import OutputExistsError
from snapcompact.files import atomic_writer


def write_out(pieces: Iterable[bytes], output: Path | None) -> None:
    """Write `pieces` to `output`, which must not exist, or to stdout where it is None or ``-``."""
    if output is None or str(output) == "-":
        try:
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
        except BrokenPipeError as error:
            raise ReaderGone from error
        return
    if output.exists():
        raise OutputExistsError(f"{output} already exists; give another name")
    with atomic_writer(output) as file:
        for piece in pieces:
            file.write(piece)
