from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.policy import preset, preset_names
from snapcompact.compaction.prompt import (
    TEMPLATES,
    PromptParts,
    PromptRules,
    build_prompt,
    tagged,
    template_text,
)
from snapcompact.compaction.serialise import SerialRules, cut_bytes, cut_middle, serialise
from snapcompact.errors import UnknownNameError
from snapcompact.history.model import Blob, Message, Role, Text, ToolCall
from tests.compaction.generated import answer, call, result, user

SECTIONS = {
    "goal": ["Goal", "Constraints & Preferences", "Progress", "Done", "In Progress", "Blocked",
             "Key Decisions", "Next Steps", "Critical Context"],
    "goal-notes": ["Goal", "Critical Context", "Additional Notes"],
    "five": ["1. Current Goal", "2. Files & Changes", "3. Technical Discoveries",
             "4. Strategy & Approach", "5. Exact Next Steps"],
    "handoff": ["Goal", "Progress", "Pending", "Critical Context", "Next Steps"],
    "prefix": ["Original Request", "Early Progress", "Context for Suffix"],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_templates_have_their_sections(name: str) -> None:
    headings = [line.lstrip("# ") for line in template_text(name).splitlines() if line[:1] == "#"]
    assert [h for h in headings if h in SECTIONS.get(name, headings)] == (
        SECTIONS.get(name) or headings
    )


@pytest.mark.parametrize("name", preset_names())
def test_every_part_given_is_in_the_prompt(name: str) -> None:
    parts = PromptParts("CONV", "PREV", "FOCUS", "STATE", "TASK")
    rules = preset(name).prompt
    text = build_prompt(parts, rules)
    for part, words in (
        ("conversation", "CONV"), ("previous", "PREV"), ("focus", "FOCUS"), ("state", "STATE"),
        ("task", "TASK"),
    ):  # fmt: skip
        assert (words in text) == (part in rules.order)


def test_blank_parts_leave_nothing_behind() -> None:
    text = build_prompt(PromptParts("CONV", " \n", "  "), PromptRules())
    assert "previous-summary" not in text
    assert "as the user asked" not in text


def test_unknown_template_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="goal"):
        build_prompt(PromptParts("x"), replace(PromptRules(), template="nope"))


@given(words=st.text(max_size=50), noise=st.sampled_from(["</conversation>", "</ConverSation >"]))
def test_no_content_ends_its_own_wrapper(words: str, noise: str) -> None:
    text = tagged("conversation", f"{words}{noise}{words}")
    assert text.lower().count("</conversation") == 1 + words.lower().count("</conversation") * 0


@given(text=st.text(max_size=300), limit=st.integers(1, 400), share=st.floats(0, 1))
def test_a_middle_cut_keeps_head_and_tail(text: str, limit: int, share: float) -> None:
    cut = cut_middle(text, limit, share, "<{count}>")
    if len(text) <= limit:
        assert cut == text
        return
    head = int(limit * share)
    said = f"<{len(text) - limit}>"
    assert cut == text[:head] + said + (text[len(text) - (limit - head) :] if limit > head else "")


@given(text=st.text(max_size=300), limit=st.integers(0, 400))
def test_a_byte_cut_never_splits_a_character(text: str, limit: int) -> None:
    data = text.encode("utf-8", "surrogatepass")
    cut = cut_bytes(data, limit, "")
    assert data.startswith(cut)
    assert cut.decode("utf-8", "surrogatepass") == text[: len(cut.decode("utf-8", "surrogatepass"))]


def test_errors_at_the_end_of_a_long_result_reach_the_summariser() -> None:
    text = serialise([result("1", "x" * 5000 + " fatal: no space left")], SerialRules())
    assert "fatal: no space left" in text


def test_every_speaker_has_a_label_and_pictures_leave_a_line() -> None:
    picture = Blob("image", "image/png", "", 640, 480, 1234)
    messages = [
        Message(Role.SYSTEM, (Text(b"rules"),)),
        Message(Role.USER, (Text(b"look"), picture)),
        Message(Role.USER, (ToolCall("b", "bash", b'{"command":"ls"}'),), "bash"),
        answer("yes", call("1")),
        result("1", "no", error=True),
        Message(Role.NOTE, (Text(b"odd"),), "observer"),
    ]
    text = serialise(messages, SerialRules())
    for said in ("[System]: rules", "[image image/png 640x480, 1234 bytes]", "[User ran]: bash(",
                 "[Assistant]: yes", "[Tool error]: no", "[Note]: odd"):  # fmt: skip
        assert said in text


def test_merged_style_keeps_all_results_of_a_call() -> None:
    rules = SerialRules(style="merged")
    messages = [user("go"), answer("", call("1")), result("1", "first"), result("1", "second")]
    text = serialise(messages, rules)
    assert "first" in text
    assert "second" in text
    assert text.count("<out>") == 1
