"""One compaction carried out: made by its mode, judged, written.

Every failure leaves the session as it was.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snapcompact.archive.write import write_archive
from snapcompact.compaction.ladder import REARRANGED
from snapcompact.compaction.modes import load_mode
from snapcompact.compaction.modes import snapcompact as pages
from snapcompact.compaction.modes.job import Made
from snapcompact.compaction.partition import Partition
from snapcompact.compaction.plan import Plan, judge
from snapcompact.compaction.session import Written, write_session
from snapcompact.compaction.writers.contract import Change
from snapcompact.compaction.writers.responses import is_sealed
from snapcompact.errors import InputError, ModelError, UsageError
from snapcompact.files import disk_errors
from snapcompact.history.blobs import blob
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import Block, Message, Other, Role, Text, wtf8
from snapcompact.llm.contract import Part, Picture

if TYPE_CHECKING:
    from snapcompact.compaction.context import Context
    from snapcompact.compaction.deciding import Prepared
    from snapcompact.compaction.entries import Item
    from snapcompact.compaction.guard import Acceptance
    from snapcompact.compaction.hook import HandedIn

_SHRUNK = "[Nothing was summarised; long parts of what follows were cut, as each says.]"


@dataclass(frozen=True, slots=True)
class Result:
    """What was made, judged."""

    made: Made
    change: Change
    acceptance: Acceptance
    tokens_after: int


async def make(ready: Prepared, draw: Callable[[], pages.Drawn]) -> Result:
    """The result of the chosen mode, accepted.

    A remote that fails gives way to ``soft``, pages that save nothing too, each with a warning;
    under ``strict`` they raise. Raises ModelError, InputError where a result is refused, UsageError
    where there is nothing to do; a cancellation passes through.
    """
    plan = ready.plan
    if plan.outcome is not None:
        raise UsageError(plan.outcome.detail)
    if plan.preparation is None:
        return _judged(ready, _shrunk(plan, ready.context))
    if ready.job.given is not None:
        return _judged(ready, Made("given", ready.job.given))
    mode = plan.mode.mode if plan.mode else "soft"
    _refuse_sealed(ready, mode)
    try:
        return await _by_mode(ready, mode, draw)
    except (ModelError, InputError) as error:
        if mode == "soft" or ready.rules.strict or _is_sealed(ready):
            raise
        ready.job.say(f"{mode}: {error}; using soft instead")
    return await _by_mode(ready, "soft", draw)


async def _by_mode(ready: Prepared, mode: str, draw: Callable[[], pages.Drawn]) -> Result:
    if mode == "snapcompact":
        return _judged(ready, await pages.run(ready.job, draw))
    rearranged = REARRANGED.get(mode)
    if rearranged is None:
        return _judged(ready, await load_mode(mode)(ready.job))
    changed = rearranged(ready)
    if changed is None:
        raise InputError("it frees too little")
    said = changed.job.given or _shrunk(changed.plan, changed.context).summary
    return _judged(changed, Made(mode, said))


def _is_sealed(ready: Prepared) -> bool:
    previous = ready.plan.partition.previous
    return previous is not None and is_sealed(previous.message)


def _refuse_sealed(ready: Prepared, mode: str) -> None:
    """Raise InputError where a past that only its provider can read would be lost."""
    if _is_sealed(ready) and not (mode == "remote" and ready.native):
        raise InputError(
            f"{ready.job.stored.session.source.name}: its past was sealed by OpenAI's own "
            "compaction; only remote, with a model of OpenAI, can go on from there"
        )


def handed_in(ready: Prepared, given: HandedIn) -> Prepared:
    """`ready` with the summary and the cut of `given`, which hook.py has checked."""
    plan = ready.plan
    if plan.preparation is None:
        return replace(ready, job=replace(ready.job, given=given.summary))
    old = plan.partition.previous
    items = [item for item in ready.context.items if old is None or item.id != old.id]
    at = next((i for i, item in enumerate(items) if item.id == given.first_kept), len(items))
    partition = Partition(history=tuple(items[:at]), kept=tuple(items[at:]), previous=old)
    preparation = replace(
        plan.preparation, partition=partition, first_kept=given.first_kept, is_split=False
    )
    changed = replace(plan, preparation=preparation, tail=None, protected=())
    return replace(ready, job=replace(ready.job, plan=changed, given=given.summary))


def _shrunk(plan: Plan, context: Context) -> Made:
    """Where only the tail was cut, the summary stays what it was."""
    mark = context.compaction.mark if context.compaction else None
    return Made("shrink", mark.summary if mark and mark.summary else _SHRUNK)


def _judged(ready: Prepared, made: Made) -> Result:
    """`made` as a change, or InputError where it is no smaller than what it replaces."""
    plan, estimator = ready.plan, ready.estimator
    added = estimator(made_message(made.summary, made.pieces, made.native))
    verdict = judge(plan, added, ready.ask, estimator, ready.job.policy)
    after = added + plan.kept_tokens(estimator)
    if not verdict.accepted:
        raise InputError(
            f"{ready.job.stored.session.source.name}: {made.mode} gives {after:,} tokens in place "
            f"of {plan.tokens_before:,} ({verdict.reason.value}); nothing was written"
        )
    return Result(made, _change(ready, made, after), verdict, after)


def _change(ready: Prepared, made: Made, after: int) -> Change:
    plan = ready.plan
    partition, edited = _partition(plan, ready.context)
    return Change(
        partition,
        plan.preparation.first_kept if plan.preparation else "",
        made.summary,
        made.pieces,
        native=made.native,
        carried=plan.protected,
        edited=edited,
        tokens_before=plan.tokens_before,
        tokens_after=after,
        files=made.files,
        short=made.short,
        method=made.mode,
        automatic=ready.options.automatic,
        time=ready.options.now,
    )


def shrunk(ready: Prepared) -> tuple[str, ...]:
    """Ids of the kept messages that are not kept whole."""
    return tuple(_partition(ready.plan, ready.context)[1])


def _partition(plan: Plan, context: Context) -> tuple[Partition, dict[str, Message]]:
    """(the partition, kept messages with a part cut)."""
    partition = plan.partition
    if plan.preparation is None:
        marks = [item for item in context.items if item.entry is context.compaction]
        kept = tuple(item for item in context.items if item.entry is not context.compaction)
        partition = Partition(kept=kept, previous=marks[0] if marks else None)
    cut: tuple[Item, ...] = plan.tail.items if plan.tail else ()
    whole = {item.id: item.message for item in partition.kept}
    edited = {i.id: i.message for i in cut if i.id in whole and i.message != whole[i.id]}
    return partition, edited


def made_message(
    summary: str, pieces: tuple[Part, ...], native: tuple[dict[str, Any], ...] = ()
) -> Message:
    """A summary, its pages, a provider's items as the message they are counted as."""
    blocks: list[Block] = [Text(wtf8(summary))]
    for piece in pieces:
        if isinstance(piece, Picture):
            blocks.append(blob("image", piece.mime, piece.data))
        else:
            blocks.append(Text(wtf8(piece)))
    blocks += [Other("item", json_text(item)) for item in native]
    return Message(Role.USER, tuple(blocks), "summary")


def apply(ready: Prepared, result: Result, out: Path, *, in_place: bool = False) -> Written:
    """Write `result` as `out`; an archive gets its name first, so that the session never lies.

    Raises as write_session does; then the archive is gone again.
    """
    with _archived(ready, result):
        return write_session(
            ready.job.stored, result.change, out, ready.job.policy.context, in_place=in_place
        )


@contextmanager
def _archived(ready: Prepared, result: Result) -> Iterator[None]:
    """The archive in its place while the session is written, and after it if that succeeds."""
    made, target = result.made.archive, ready.options.archive
    if target is None or (made is None and not ready.handoff):
        yield
        return
    if made is not None:
        with disk_errors("write", target):
            os.rename(made, target)
    else:
        write_archive(ready.job.stored.session, target)
    try:
        yield
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
