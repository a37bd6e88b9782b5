"""How a compaction ended, as typed values that a CLI, an editor or a chat can put in its words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The five ends of a request to compact."""

    DONE = "done"
    NOTHING = "nothing"
    CANCELLED = "cancelled"
    FAILED = "failed"
    BUSY = "busy"


class Reason(StrEnum):
    """Why it ended so."""

    DONE = "done"
    DISABLED = "compaction disabled"
    NOT_APPLIED = "compaction not applied"
    NO_MESSAGES = "no messages"
    NOTHING = "nothing to summarise"
    ALREADY = "already compacted"
    NO_SUMMARISER = "no summariser"
    NO_MODEL = "no model"
    NO_KEY = "no key"
    EMPTY = "empty summary"
    PROTOCOL = "summary is tool protocol"
    INEFFECTIVE = "ineffective compaction"
    FOCUS = "focus refused"
    BUSY = "compaction in progress"
    CANCELLED = "compaction cancelled"
    CAPPED = "compaction cap exceeded"
    OPEN = "circuit breaker open"
    ERROR = "error"


_STATUS = {
    Reason.DONE: Status.DONE,
    Reason.NO_MESSAGES: Status.NOTHING,
    Reason.NOTHING: Status.NOTHING,
    Reason.ALREADY: Status.NOTHING,
    Reason.BUSY: Status.BUSY,
    Reason.CANCELLED: Status.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """An end and its reason; ``detail`` is for people."""

    reason: Reason
    detail: str = ""

    @property
    def status(self) -> Status:
        """Which of the five ends this is."""
        return _STATUS.get(self.reason, Status.FAILED)


def manual_gate(
    *, running: bool = False, messages: int = 2, minimum: int = 1, last_is_compaction: bool = False,
    has_model: bool = True, has_key: bool = True, cancelled: bool = False,
    focus_refused: bool = False,
) -> Outcome | None:  # fmt: skip
    """Why a request by hand cannot start, None where it can. Arguments are checked before all else.

    Nothing has been touched when this refuses: the caller stops a running agent only after it.
    """
    checks = (
        (focus_refused, Reason.FOCUS),
        (running, Reason.BUSY),
        (not has_model, Reason.NO_MODEL),
        (not has_key, Reason.NO_KEY),
        (last_is_compaction, Reason.ALREADY),
        (messages < minimum, Reason.NO_MESSAGES),
        (cancelled, Reason.CANCELLED),
    )
    return next((Outcome(reason) for failed, reason in checks if failed), None)
