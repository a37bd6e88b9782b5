from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.modes.command import (
    HINT,
    MODES,
    Asked,
    parse_args,
    parse_command,
    resolve_order,
)
from snapcompact.errors import FocusRefusedError

NAMES = [mode.name for mode in MODES.values() if mode.by_hand]
words = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=12)


@given(text=st.text(max_size=60))
def test_any_text_parses_or_refuses_focus(text: str) -> None:
    try:
        asked = parse_args(text)
    except FocusRefusedError:
        assert text.split(maxsplit=1)[0].lower() == "snapcompact"
        return
    if asked.mode is None:
        assert asked.focus == (text.strip() or None)
    else:
        assert text.strip().lower().startswith(asked.mode)


@given(mode=st.sampled_from(["soft", "remote"]), focus=words, gap=st.sampled_from(" \t\n"))
def test_a_mode_in_any_case_then_focus(mode: str, focus: str, gap: str) -> None:
    assert parse_args(f" {mode.upper()}{gap}{focus} ") == Asked(mode, focus)


def test_snapcompact_takes_no_focus() -> None:
    assert parse_args("SnapCompact  ") == Asked("snapcompact")
    with pytest.raises(FocusRefusedError, match="'keep the diffs'") as caught:
        parse_args("snapcompact keep the diffs")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("word", ["handoff", "context-full", "softly", "soft,remote", "window"])
def test_anything_else_is_focus(word: str) -> None:
    assert parse_args(f"{word} x") == Asked(None, f"{word} x")


@pytest.mark.parametrize(
    ("line", "args"),
    [
        ("/compact", ""), ("/co soft x", "soft x"), ("/summarize\tx", "x"), ("/COMPACT x", "x"),
        ("/compacted", None), ("compact", None), ("", None), ("/", None),
    ],
)  # fmt: skip
def test_command_names(line: str, args: str | None) -> None:
    assert parse_command(line) == args


def test_hint_and_table_agree() -> None:
    assert f"[{'|'.join(NAMES)}] [focus]" == HINT


def test_order() -> None:
    assert resolve_order(["soft", "nope", "remote", "soft", "context-full"]) == ("soft", "remote")
    assert resolve_order("soft") == ()
    assert resolve_order(None) == ()
