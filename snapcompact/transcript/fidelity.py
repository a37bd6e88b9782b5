"""What is done to a session's messages before they are written: secrets taken out, fidelity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from snapcompact.errors import UnknownNameError
from snapcompact.history.model import Message, unwtf8, wtf8

if TYPE_CHECKING:
    from snapcompact.transcript.redact import Redactor

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


class Prepared:
    """The messages of a session as they are written, each time read anew.

    `losses` counts what lean took away and which kinds of secrets were replaced.
    """

    def __init__(
        self,
        read: Callable[[], Iterator[Message]],
        fidelity: str = "exact",
        *,
        redact: bool = False,
        losses: dict[str, int] | None = None,
    ) -> None:
        self._read = read
        self.losses: dict[str, int] = {} if losses is None else losses
        self._prepare = preparation(fidelity, self.losses)
        self._redact = redact
        self._redactor: Redactor | None = None

    def messages(self) -> Iterator[Message]:
        """The messages. With redaction the session is read twice (see ``redact.learned``)."""
        messages = self._read()
        if self._redact:
            from snapcompact.transcript.redact import learned

            self._redactor = learned(messages)
            messages = map(self._redactor.message, self._read())
        yield from self._prepare(messages)
        if self._redactor is not None:
            for kind, count in sorted(self._redactor.found.places.items()):
                self.losses[f"secret: {kind}"] = count

    def words(self, text: str) -> str:
        """`text`, said beside the messages, without the secrets found in them."""
        if self._redactor is None:
            return text
        return unwtf8(self._redactor.text(wtf8(text)))
