"""Counts of a session."""

from __future__ import annotations

from hypothesis import given

from snapcompact.history.model import Message, Meta, Role, Text, ToolCall, ToolResult, Usage
from snapcompact.history.survey import Survey
from tests.strategies import histories


@given(histories)
def test_messages_pass_as_they_are(history: list[Message]) -> None:
    survey = Survey()
    assert list(survey.watch(history)) == history
    assert sum(survey.messages.values()) == len(history)
    assert survey.orphans <= survey.results


def test_pairs_times_and_usage() -> None:
    answer = Meta(id="a", time="2026-01-02", model="m", usage=Usage(5, 1))
    grown = Meta(id="a", time="2026-01-03", model="m", usage=Usage(5, 9))
    survey = Survey()
    list(
        survey.watch(
            [
                Message(Role.USER, (Text(b"abc"),), "context", Meta(time="2026-01-01")),
                Message(Role.ASSISTANT, (ToolCall("x", "ls", b"{}"),), meta=answer),
                Message(Role.ASSISTANT, (ToolCall("y", "ls", b"{}"),), meta=grown),
                Message(Role.TOOL, (ToolResult("x", (), is_error=True),)),
                Message(Role.TOOL, (ToolResult("zz", ()),)),
            ]
        )
    )
    assert survey.tools == {"ls": 2}
    assert survey.labels == {"user context": 1}
    assert (survey.results, survey.errors, survey.orphans, survey.unanswered) == (2, 1, 1, 1)
    assert (survey.first_time, survey.last_time) == ("2026-01-01", "2026-01-03")
    assert (survey.answers, survey.usage) == (1, Usage(5, 9))
    assert survey.text_bytes == 7
