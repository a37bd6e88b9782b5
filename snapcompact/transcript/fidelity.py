"""The fidelities: what is done to messages before they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from snapcompact.errors import UnknownNameError
from snapcompact.history.model import Message

Prepare = Callable[[Iterator[Message]], Iterator[Message]]

FIDELITIES = ("exact", "lean")


def preparation(fidelity: str, losses: dict[str, int]) -> Prepare:
    """The change that `fidelity` makes to messages; it counts in `losses` what it takes away.

    Raises UnknownNameError.
    """
    if fidelity not in FIDELITIES:
        raise UnknownNameError(f"unknown fidelity {fidelity!r}; known are {', '.join(FIDELITIES)}")
    if fidelity == "exact":
        return iter
    from snapcompact.transcript.lean import Lean

    return Lean(losses).messages
