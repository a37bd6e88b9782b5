from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings

from snapcompact.compaction.estimator import MESSAGE_TOKENS, LearnedEstimator
from snapcompact.compaction.policy import preset
from snapcompact.history.model import Blob, Message, Role, Text, Thinking, wtf8
from snapcompact.tokens import estimate_tokens
from tests.compaction.generated import stretches, user

if TYPE_CHECKING:
    from snapcompact.compaction.entries import Kind

RULES = preset().tokens


@settings(max_examples=30, deadline=None)
@given(stretch=stretches())
def test_one_pass_counts_what_one_by_one_does(
    stretch: list[tuple[Kind, Message | None]],
) -> None:
    messages = [message for _, message in stretch if message is not None]
    together = LearnedEstimator("o200k", RULES)
    together.prime(messages)
    alone = [LearnedEstimator("o200k", RULES)(message) for message in messages]
    assert [together(message) for message in messages] == alone


def test_words_are_counted_as_the_tokens_package_does() -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 40
    message = user(text.strip(), 1)
    counted = LearnedEstimator("o200k", RULES)(message)
    assert counted == estimate_tokens(message.text.encode()) + MESSAGE_TOKENS


def test_pictures_sealed_thought_and_surrogates_count() -> None:
    estimate = LearnedEstimator("o200k", RULES)
    picture = Message(Role.USER, (Blob("image", width_px=750, height_px=100),))
    assert estimate(picture) == 100 + MESSAGE_TOKENS
    assert estimate(Message(Role.ASSISTANT, (Thinking(b"", 4000),))) > 100
    assert estimate(Message(Role.USER, (Text(wtf8("a\ud800b")),))) > MESSAGE_TOKENS
