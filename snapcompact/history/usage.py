"""Recorded token usage, as providers spell it, to :class:`Usage`. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.model import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snapcompact.history.model import Message

ABSURD_TOKENS = 100_000_000
"""No window is as large; a count at or above it is an error of the writer."""


def usage_of(value: Any) -> Usage | None:
    """Usage in Anthropic's or OpenAI's words; None where absent, zero, negative or absurd."""
    if not isinstance(value, dict):
        return None
    if "prompt_tokens" in value or "completion_tokens" in value:
        details = value.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else 0
        return usage(
            value.get("prompt_tokens"), value.get("completion_tokens"), cached, within=True
        )
    if "input_tokens_details" in value or "cached_input_tokens" in value:
        details = value.get("input_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else None
        cached = value.get("cached_input_tokens") if cached is None else cached
        return usage(value.get("input_tokens"), value.get("output_tokens"), cached, within=True)
    return usage(
        value.get("input_tokens"),
        value.get("output_tokens"),
        value.get("cache_read_input_tokens"),
        value.get("cache_creation_input_tokens"),
    )


def usage(
    given: Any, output: Any, read: Any = 0, write: Any = 0, *, within: bool = False
) -> Usage | None:
    """Usage of four counts, None where they are no sane counts or all zero.

    `within` says that `given` includes the cached tokens, as OpenAI counts.
    """
    counts = [0 if count is None else count for count in (given, output, read, write)]
    for count in counts:
        if type(count) is not int or not 0 <= count < ABSURD_TOKENS:
            return None
    if within:
        counts[0] = max(0, counts[0] - counts[2])
    return Usage(*counts) if any(counts) else None


class Answers:
    """Usage once for each answer, from messages given one by one.

    The messages of a split answer share an id and may each carry its usage, growing: the one
    with most output counts, given when the answer's last known neighbour has passed (a window of
    64 answers, as many as were ever seen interleaved by sub-agents, with room).
    """

    def __init__(self) -> None:
        self._window: dict[str, tuple[Message, Usage]] = {}

    def add(self, message: Message) -> tuple[Message, Usage] | None:
        """The answer that is whole now that `message` has come, if one is."""
        spent = message.meta.usage
        if spent is None:
            return None
        if not message.meta.id:
            return message, spent
        known = self._window.get(message.meta.id)
        if known is None or spent.output > known[1].output:
            self._window[message.meta.id] = (message, spent)
        if len(self._window) > 64:
            return self._window.pop(next(iter(self._window)))
        return None

    def rest(self) -> Iterable[tuple[Message, Usage]]:
        """The answers not given yet, in order."""
        return self._window.values()


def per_answer(messages: Iterable[Message]) -> Iterable[tuple[Message, Usage]]:
    """(message, usage) once for each answer, in order, where usage is recorded."""
    answers = Answers()
    for message in messages:
        if (answer := answers.add(message)) is not None:
            yield answer
    yield from answers.rest()
