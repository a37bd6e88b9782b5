"""The shape of an archive, where the text is to choose it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact.pages.coverage import Choice, auto_shapes, choose_shape
from snapcompact.pages.typeset import typeset
from snapcompact.transcript.fidelity import Prepared
from snapcompact.transcript.sample import Sampler
from snapcompact.transcript.write import write_transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.history.session import Session
    from snapcompact.pages.shape import Shape


def auto_shape(
    session: Session,
    *,
    fidelity: str = "exact",
    redact: bool = False,
    font: str = "",
    fallback: Sequence[str] = (),
) -> Choice:
    """The shape whose font draws what `session` says, with `font` and `fallback` as in typeset.

    The session is read once for a sample of its text; memory is that of the sample. Raises
    as ``typeset`` and as reading does.
    """
    prepared = Prepared(session.messages, fidelity, redact=redact)
    return chosen_by(write_transcript(prepared.messages()), font, fallback)


def chosen_by(pieces: Iterable[bytes], font: str = "", fallback: Sequence[str] = ()) -> Choice:
    """The shape whose font draws the text in `pieces`."""
    sampler = Sampler()
    for piece in pieces:
        sampler.feed(piece)
    sample = b"".join(sampler.result())

    def load(shape: Shape) -> Atlas:
        return typeset(shape, font, fallback)[1].cover(sample)

    return choose_shape(sample, auto_shapes(), load)
