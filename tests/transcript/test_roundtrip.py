"""The transcript parses back to the messages it was written from."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from snapcompact.history.model import Message, Role, Text, Thinking, ToolCall, ToolResult
from snapcompact.transcript.parse import parse_transcript, with_ordinal_ids
from snapcompact.transcript.write import write_transcript
from tests.strategies import histories, texts

_CALL = Message(Role.ASSISTANT, (ToolCall("a", "f", b"{}"),))
_TWO_CALLS = Message(Role.ASSISTANT, (ToolCall("a", "f", b"{}"), ToolCall("a", "g", b"{}")))
_RESULT = Message(Role.TOOL, (ToolResult("a", (Text(b"ok"),)),))


@given(histories)
@example([_CALL, _CALL, _RESULT, _RESULT, _RESULT])
@example([_TWO_CALLS, _RESULT, _RESULT])
@example([Message(Role.ASSISTANT, ()), _CALL])
@example([Message(Role.ASSISTANT, (Thinking(b"x"), Text(b"y"), Thinking(b"z"), Text(b"")))])
def test_messages_survive(history: list[Message]) -> None:
    transcript = b"".join(write_transcript(history))
    assert list(parse_transcript([transcript])) == list(with_ordinal_ids(history))


@given(histories, st.integers(0, 8))
def test_transcript_of_a_prefix_is_a_prefix(history: list[Message], count: int) -> None:
    whole = b"".join(write_transcript(history))
    assert whole.startswith(b"".join(write_transcript(history[:count])))


@given(histories, st.lists(st.integers(1, 40), max_size=20))
def test_pieces_may_end_anywhere(history: list[Message], sizes: list[int]) -> None:
    transcript = b"".join(write_transcript(history))
    pieces, at = [], 0
    for size in sizes:
        pieces.append(transcript[at : at + size])
        at += size
    pieces.append(transcript[at:])
    assert list(parse_transcript(pieces)) == list(parse_transcript([transcript]))


@given(texts.map(lambda text: text.data))
def test_any_bytes_parse_without_a_failure(data: bytes) -> None:
    list(parse_transcript([data]))
