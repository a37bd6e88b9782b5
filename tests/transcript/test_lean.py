"""Fidelity lean: what is taken away is counted and marked, the rest stays."""

from __future__ import annotations

import base64
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history.model import (
    Blob,
    Message,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from snapcompact.history.session import open_session
from snapcompact.transcript.folds import fold_blanks, fold_look_alikes, name_emoji, replace_invalid
from snapcompact.transcript.lean import Lean, LeanOptions
from snapcompact.transcript.parse import parse_transcript, with_ordinal_ids
from snapcompact.transcript.terminal import plain_text
from snapcompact.transcript.write import write_transcript
from tests.strategies import histories

CASES = Path(__file__).parents[1] / "cases"


def lean(*messages: Message, **options: object) -> tuple[list[Message], dict[str, int]]:
    losses: dict[str, int] = {}
    made = list(Lean(losses, LeanOptions(**options)).messages(messages))  # type: ignore[arg-type]
    return made, losses


def result(data: bytes) -> Message:
    return Message(Role.TOOL, (ToolResult("a", (Text(data),)),))


def text_of(message: Message) -> bytes:
    block = message.blocks[0]
    parts = block.content if isinstance(block, ToolResult) else message.blocks
    return b"\n".join(part.data for part in parts if isinstance(part, Text))


def test_case_25_ansi_flood_is_collapsed_to_its_last_state() -> None:
    losses: dict[str, int] = {}
    session = open_session(CASES / "25_ansi_flood.jsonl")
    made = list(Lean(losses).messages(session.messages()))
    lines = text_of(next(m for m in made if m.role is Role.TOOL)).decode().split("\n")
    assert lines[:-1] == [
        "| installing 400/400",
        "FAIL tests/a_test 12 ok",
        "visible after title",
        "link text",
        "after device string",
        "moved",
        "C1 colour",
        "overstrike: ab",
        "progress 100%",
        "literal text [31m not an escape",
        "unterminated",
        "open title 0;never closed and this text must not vanish",
        "next line",
    ]
    assert lines[-1].startswith("[folded: escape codes ")
    assert losses["redraws"] == 405


def test_case_32_base64_in_text_becomes_a_blob_and_is_not_printed() -> None:
    losses: dict[str, int] = {}
    session = open_session(CASES / "32_base64_image_tool_result.jsonl")
    transcript = b"".join(write_transcript(Lean(losses).messages(session.messages())))
    assert losses["base64"] == 1
    assert max(len(line) for line in transcript.split(b"\n")) < 512
    assert b"bytes=" in transcript


def test_a_carriage_return_alone_redraws_and_before_a_line_end_is_dropped() -> None:
    assert plain_text(b"10%\r55%\n") == (b"55%\n", 0, 1)
    assert plain_text(b"a\r\nb\r\n") == (b"a\nb\n", 2, 0)
    assert plain_text(b"long old\rnew") == (b"new" + b"g old", 0, 1)
    assert plain_text(b"1\n2\n3\x1b[2A\rX") == (b"X\n2\n3", 1, 1)


@given(st.text().map(str.encode))
def test_text_without_terminal_codes_stays(data: bytes) -> None:
    if not any(ord(c) in (8, 13, 27) or 0x80 <= ord(c) < 0xA0 for c in data.decode()):
        assert plain_text(data) == (data, 0, 0)


@given(
    st.lists(st.sampled_from(["\x1b[", "31", "m", "K", "\r", "\b", "\n", "x", "\x1b]", ";", "A"]))
)
def test_no_escape_is_left_whatever_the_sequences(parts: list[str]) -> None:
    shown, _, _ = plain_text("".join(parts).encode())
    assert b"\x1b" not in shown
    assert b"\b" not in shown


def test_blanks_collapse_behind_text_and_indents_stay() -> None:
    assert fold_blanks(b"\t  a   b\tc  \n    d\n") == (b"\t  a b c\n    d\n", 3)


def test_look_alikes_and_emoji() -> None:
    assert fold_look_alikes("“a” – b…".encode()) == (b'"a" - b...', 4)
    assert name_emoji("go 🚀 and 👍🏽".encode())[0] == (
        b"go :rocket: and :thumbs_up_sign+emoji_modifier_fitzpatrick_type-4:"
    )


@given(st.binary(max_size=40))
def test_what_is_no_utf8_is_replaced_and_counted(data: bytes) -> None:
    made, count = replace_invalid(data)
    made.decode()
    assert (count == 0) == (made == data)


def test_long_results_keep_head_and_tail_and_say_what_is_gone() -> None:
    data = bytes(range(65, 91)) * 100
    (made,), losses = lean(result(data), result_bytes=1000)
    text = text_of(made)
    assert text.startswith(data[:600])
    assert text.endswith(data[-400:])
    assert b"[1,600 bytes cut here]" in text
    assert losses == {"cuts": 1, "cut bytes": 1600}


def test_cuts_fall_between_grapheme_clusters() -> None:
    data = "é".encode() * 100 + "e\u0301\u0302".encode() * 100
    for limit in range(300, 330):
        text = text_of(lean(result(data), result_bytes=limit)[0][0]).decode()
        head, tail = text.split("\n[")[0], text.split("]\n")[1]
        assert not tail.startswith(("\u0301", "\u0302"))
        assert head.encode() == data[: len(head.encode())]


def test_a_repeated_result_is_printed_once_within_the_window() -> None:
    long = result(b"x" * 300)
    made, losses = lean(long, result(b"other"), long, repeat_window=2)
    assert text_of(made[2]) == b"[the same 300 bytes as 2 results before]"
    assert losses == {"repeated results": 1}
    made, losses = lean(long, *[result(b"%d" % i * 300) for i in range(3)], long, repeat_window=2)
    assert text_of(made[4]) == text_of(long)


def test_thinking_leaves_its_size() -> None:
    (made,), losses = lean(Message(Role.ASSISTANT, (Thinking(b"why"), Text(b"so"))))
    assert made.blocks == (Thinking(b"", 3), Text(b"so"))
    assert losses == {"thinking": 1}


def test_a_data_url_in_arguments_becomes_a_blob_behind_the_call() -> None:
    url = b"data:image/gif;base64," + base64.b64encode(b"GIF89a" + bytes(100))
    (made,), losses = lean(Message(Role.ASSISTANT, (ToolCall("a", "f", b'{"u":"' + url + b'"}'),)))
    call, blob = made.blocks
    assert isinstance(call, ToolCall)
    assert isinstance(blob, Blob)
    assert blob.data == b"GIF89a" + bytes(100)
    assert blob.sha256.encode() in call.args
    assert losses == {"base64": 1}


@given(histories)
def test_lean_messages_survive_the_transcript(history: list[Message]) -> None:
    made = list(Lean({}, LeanOptions(result_bytes=20, argument_bytes=20)).messages(history))
    transcript = b"".join(write_transcript(made))
    assert list(parse_transcript([transcript])) == list(with_ordinal_ids(made))
