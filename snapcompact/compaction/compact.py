"""Compact a session file in one call, waited for or awaited."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.compaction.deciding import Options, prepared, with_mode
from snapcompact.compaction.host import in_thread
from snapcompact.compaction.run import apply, make
from snapcompact.compaction.session import (
    archive_name,
    check_one,
    default_output,
    load_stored,
)
from snapcompact.compaction.settings_files import load_settings
from snapcompact.compaction.undo import real_path
from snapcompact.errors import OutputExistsError
from snapcompact.history.session import open_session
from snapcompact.llm.client import run

if TYPE_CHECKING:
    from snapcompact.compaction.plan import Plan
    from snapcompact.compaction.run import Result
    from snapcompact.compaction.session import Written
    from snapcompact.compaction.settings import Settings


@dataclass(frozen=True, slots=True)
class Compacted:
    """What was decided, made and written; the last two are None where there was nothing to do."""

    plan: Plan
    result: Result | None = None
    written: Written | None = None


async def acompact(
    session: Path, output: Path | None = None, options: Options | None = None,
    settings: Settings | None = None, *, in_place: bool = False, format_name: str | None = None,
    select: str = "",
) -> Compacted:  # fmt: skip
    """Compact the file `session` to `output` (by default ``SESSION.compacted.EXT`` beside it).

    `select` is the id of one conversation where the file holds many. With `in_place` it takes the
    session's place; ``undo.undo`` puts that back. Raises OutputExistsError, FocusRefusedError,
    UsageError, InputError, ModelError, DiskError; then, and when cancelled, nothing was written.
    """
    options = options or Options()
    settings = settings or load_settings()
    with open_session(session, format=format_name, select=select) as source, ExitStack() as stack:
        check_one(source, in_place=in_place)
        out = output or default_output(session, source.format.name)
        if in_place:
            out = real_path(session)
        elif os.path.lexists(out):
            raise OutputExistsError(f"{out} already exists; give another name")
        if options.archive is None:
            options = replace(options, archive=archive_name(out))
        options = replace(options, in_place=in_place)
        ready = await in_thread(lambda: prepared(load_stored(source), options, settings))
        chosen, draw = await in_thread(lambda: stack.enter_context(with_mode(ready)))
        if chosen.plan.outcome is not None:
            return Compacted(chosen.plan)
        result = await make(chosen, draw)
        return Compacted(chosen.plan, result, apply(chosen, result, out, in_place=in_place))


def compact(
    session: Path, output: Path | None = None, options: Options | None = None,
    settings: Settings | None = None, *, in_place: bool = False, format_name: str | None = None,
    select: str = "",
) -> Compacted:  # fmt: skip
    """:func:`acompact`, waited for."""
    return run(
        acompact(session, output, options, settings, in_place=in_place, format_name=format_name,
                  select=select)
    )  # fmt: skip
