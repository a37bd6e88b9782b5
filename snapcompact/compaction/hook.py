"""A compaction handed in by an extension: taken whole, but only after it was checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.compaction.guard import AcceptRules, check_summary
from snapcompact.compaction.outcome import Reason
from snapcompact.compaction.pairs import reach

if TYPE_CHECKING:
    from snapcompact.compaction.entries import Item


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What an extension gave. ``first_kept`` "" keeps nothing; ``cancel`` wins over all else."""

    summary: str = ""
    first_kept: str = ""
    cancel: bool = False
    reason: str = ""


def check_handed_in(
    given: HandedIn, items: Sequence[Item], rules: AcceptRules
) -> tuple[Reason, str]:
    """(DONE, "") where `given` may be written, else the reason and what is wrong with it.

    Its first kept entry must be in the context, the tail from there on must hold no result without
    its call, and its summary must be one.
    """
    if given.cancel:
        return Reason.CANCELLED, given.reason or "cancelled by an extension"
    checked = check_summary(given.summary, rules)
    if checked is not Reason.DONE:
        return checked, f"an extension's summary was refused: {checked.value}"
    if not given.first_kept:
        return Reason.DONE, ""
    places = [index for index, item in enumerate(items) if item.id == given.first_kept]
    if not places:
        return Reason.ERROR, f"an extension keeps from {given.first_kept!r}, which is not there"
    if reach([item.message for item in items])[places[0]] < places[0]:
        return (
            Reason.ERROR,
            f"an extension's cut at {given.first_kept!r} parts a call from its result",
        )
    return Reason.DONE, ""
