"""Messages on their way to the pages: taken in runs, with the same rows however they are taken."""

from __future__ import annotations

import hashlib
import io
from dataclasses import astuple, replace

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.archive.manifest import MessageRow, load_message_row
from snapcompact.archive.transcribe import RUN_BYTES, RUN_MESSAGES, Transcriber, runs
from snapcompact.history.model import Message, Meta, Role, Text, ToolCall, ToolResult, Usage
from snapcompact.transcript.write import write_transcript
from tests.strategies import histories, names

counts = st.integers(0, 1 << 40)
metas = st.builds(
    Meta,
    names,
    names,
    names,
    names,
    st.none() | st.builds(Usage, counts, counts, counts, counts),
    counts,
    counts,
)
BEGINNINGS = st.sampled_from([0, 1, RUN_BYTES - 1, RUN_BYTES])


@given(st.lists(st.integers(0, RUN_BYTES // 20), max_size=200), BEGINNINGS)
def test_runs_are_short_and_leave_nothing_out(lengths: list[int], begin: int) -> None:
    places = [begin + sum(lengths[:count]) for count in range(len(lengths))]
    messages = [said(offset=place) for place in places]
    found = list(runs(messages))
    assert [message for run in found for message in run] == messages
    for run in found:
        *most, _ = (message.meta.offset for message in run)
        assert len(run) <= RUN_MESSAGES
        assert not most or (most[0] > 0 and most[-1] - most[0] < RUN_BYTES)


def test_a_message_without_a_place_does_not_wait_for_others() -> None:
    assert [len(run) for run in runs([said(offset=0)] * 3)] == [1, 1, 1]


@given(st.lists(metas, min_size=8, max_size=8), histories, st.integers(0, 8))
def test_rows_are_the_same_however_messages_are_taken(
    places: list[Meta], history: list[Message], cut: int
) -> None:
    messages = [replace(m, meta=meta) for m, meta in zip(history, places, strict=False)]
    texts = list(write_transcript(messages))
    file = io.BytesIO()
    whole, parts = Transcriber(file, lambda _: None), Transcriber(io.BytesIO(), lambda _: None)
    list(whole.pieces(messages))
    for some in (slice(cut), slice(cut, None)):
        if messages[some]:
            parts.note(messages[some], texts[some])
    assert (parts.chain, parts.last, parts.rows_bytes) == (
        whole.chain,
        whole.last,
        whole.rows_bytes,
    )
    assert whole.rows_bytes == len(file.getvalue())
    written = [load_message_row(line, "test") for line in file.getvalue().splitlines()]
    offsets = [sum(map(len, texts[:number])) for number in range(len(texts))]
    assert [*written, whole.last][: len(messages)] == list(
        map(row, messages, range(len(texts)), offsets, texts)
    )


def said(offset: int) -> Message:
    return Message(Role.USER, (Text(b"x"),), meta=Meta(offset=offset))


def row(message: Message, number: int, offset: int, text: bytes) -> MessageRow:
    """The row of a message, all fields written out."""
    meta = message.meta
    return MessageRow(
        message=number,
        offset=offset,
        length=len(text),
        role=message.role.value,
        hash=hashlib.sha256(text).hexdigest()[:16],
        label=message.label,
        id=meta.id,
        time=meta.time,
        model=meta.model,
        stop=meta.stop,
        usage=None if meta.usage is None else astuple(meta.usage),
        line=meta.line,
        at=meta.offset,
        calls=tuple(block.id for block in message.blocks if isinstance(block, ToolCall)),
        call_id=next((b.call_id for b in message.blocks if isinstance(b, ToolResult)), ""),
    )
