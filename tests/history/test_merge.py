"""Parts of one answer become one message, and a prefix of the file gives a prefix."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history.merge import merged
from snapcompact.history.model import Message, Meta, Role, Text, ToolResult, Usage
from snapcompact.transcript.write import write_transcript


def part(text: bytes, answer: str, usage: Usage | None = None, label: str = "") -> Message:
    return Message(Role.ASSISTANT, (Text(text),), label, Meta(answer, usage=usage))


def test_parts_join_and_the_largest_bill_counts() -> None:
    result = Message(Role.TOOL, (ToolResult("c", ()),))
    made = list(
        merged(
            [
                part(b"a", "1", Usage(5, 1)),
                part(b"b", "1", Usage(5, 9)),
                result,
                part(b"c", "1", Usage(5, 12)),
                part(b"d", ""),
                part(b"e", ""),
                part(b"f", "2", label="agent x"),
                part(b"g", "2"),
            ]
        )
    )
    assert [m.text for m in made] == ["a\nb", "", "c", "d", "e", "f", "g"]
    assert [m.meta.usage for m in made[:3]] == [Usage(5, 9), None, Usage(5, 12)]


@given(st.lists(st.sampled_from(["", "1", "2"]), max_size=12), st.integers(0, 12))
def test_a_prefix_gives_a_prefix_of_the_transcript(ids: list[str], count: int) -> None:
    parts = [part(b"%d" % at, answer) for at, answer in enumerate(ids)]
    whole = b"".join(write_transcript(merged(parts)))
    assert whole.startswith(b"".join(write_transcript(merged(parts[:count]))))
