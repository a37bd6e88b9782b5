"""The collected cases that speak of reading; the number is the case's."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from snapcompact.errors import DamageError
from snapcompact.history.model import Blob, Message, Other, Role, Text, ToolCall, ToolResult
from snapcompact.history.pairing import Answer, Standing, pair
from snapcompact.history.session import open_session
from tests.history.seen import Seen, seen

CASES = Path(__file__).parents[1] / "cases"


def _case(number: str) -> Seen:
    return seen(next(CASES.glob(f"{number}_*")))


def _results(messages: list[Message]) -> list[ToolResult]:
    return [block for m in messages for block in m.blocks if isinstance(block, ToolResult)]


def _answers(got: Seen) -> list[Answer]:
    return [answer for _, answer in pair(got.messages) if answer]


def test_case_01_an_empty_file_has_no_messages_and_is_no_error() -> None:
    got = _case("01")
    assert got.messages == []
    assert got.report.damage.total == 0


def test_case_02_metadata_records_are_no_messages() -> None:
    got = _case("02")
    assert (got.format, got.messages) == ("pi", [])
    assert got.report.skipped == {"model_change": 1}
    assert got.report.info["id"] == "0190-aaaa-header"


def test_case_03_one_message() -> None:
    got = _case("03")
    expected = Text(b"List the three biggest folders under /srv/demo.")
    assert got.messages == [Message(Role.USER, (expected,))]


def test_case_04_the_last_message_is_whole() -> None:
    got = _case("04")
    assert got.roles == {"system": 1, "user": 2, "assistant": 1}
    assert len(got.messages[-1].text) > 119_000


def test_case_05_only_results_are_orphans_and_survive() -> None:
    got = _case("05")
    assert got.roles == {"tool": 8}
    assert {answer.standing for answer in _answers(got)} == {Standing.ORPHAN}


def test_case_06_trailing_results_pair_with_their_calls() -> None:
    got = _case("06")
    assert [message.role for message in got.messages[-3:]] == [Role.TOOL] * 3
    assert [answer.standing for answer in _answers(got)] == [Standing.FIRST] * 3
    assert all(len(result.text) > 28_000 for result in _results(got.messages))


def test_case_07_an_orphan_result_does_not_take_the_users_words() -> None:
    got = _case("07")
    assert _results(got.messages) == [ToolResult("toolu_gone", (Text(b"17 files changed"),))]
    assert [answer.standing for answer in _answers(got)] == [Standing.ORPHAN]
    assert got.messages[1].role is Role.USER
    assert got.messages[1].text == "That looks wrong, only 3 files should change."


def test_case_09_equal_ids_pair_by_place() -> None:
    got = _case("09")
    calls = [
        (at, block.args)
        for at, message in enumerate(got.messages)
        for block in message.blocks
        if isinstance(block, ToolCall)
    ]
    assert [at for at, _ in calls] == [1, 6, 8, 8]
    told = [
        (result.text, answer.message, answer.block, answer.standing.value)
        for result, answer in zip(_results(got.messages), _answers(got), strict=True)
    ]
    assert told == [
        ("[aborted]", 1, 0, "first"),
        ("port = 8080\nworkers = 4", 1, 0, "again"),
        ("pool = 12", 6, 0, "first"),
        ("one done", 8, 0, "first"),
        ("two done", 8, 1, "first"),
    ]


def test_case_11_sixty_pairs_in_one_turn() -> None:
    got = _case("11")
    assert got.pairs == (60, 0)
    assert "vendor" in got.messages[1].text
    assert got.messages[-1].text == "Half of the modules are done."


def test_case_14_odd_contents_are_kept_or_counted() -> None:
    got = _case("14")
    assert got.report.skipped == {"empty message": 7}
    calls = [block for m in got.messages for block in m.blocks if isinstance(block, ToolCall)]
    assert calls == [
        ToolCall("n1", "run", b""),
        ToolCall("n2", "run", b"{not json"),
        ToolCall("n3", "", b'{"already":"object"}'),
        ToolCall("n4", "", b""),
    ]
    assert [result.text for result in _results(got.messages)] == [
        "",
        "list body",
        '{"unexpected":"object"}',
        "42",
    ]
    mixed = next(m for m in got.messages if "plain string" in m.text)
    assert mixed.blocks == (Text(b"plain string in list"), Other("int", b"7"))
    assert [message.meta.usage for message in got.messages] == [None] * len(got.messages)
    assert got.messages[-1].text == "Last real message."


def test_case_15_unknown_roles_and_blocks_are_labelled() -> None:
    got = _case("15")
    assert [(str(m.role), m.label, m.text) for m in got.messages if m.label] == [
        ("system", "developer", "Prefer short answers."),
        ("note", "observer", "temperature rising"),
        ("note", "7", "numeric role"),
        ("note", "no role", "no role"),
        ("tool", "function old_api", ""),
        ("note", "event_msg", ""),
    ]
    user = next(m for m in got.messages if m.role is Role.USER)
    assert [type(block).__name__ for block in user.blocks] == ["Other", "Blob", "Blob", "Text"]
    assert user.blocks[0] == Other(
        "mystery_block", b'{"type":"mystery_block","payload":{"a":[1,2,3]}}'
    )
    assert got.kinds["Thinking"] == 2
    assert got.report.damage.counts == {"not-an-object": 5}
    assert got.report.damage.lines["not-an-object"] == [9, 10, 11, 12, 13]


def test_case_16_only_the_torn_tail_is_dropped() -> None:
    got = _case("16")
    assert len(got.messages) == 4
    assert got.messages[-1].text == "Renamed."
    assert got.report.damage.lines == {"torn-tail": [5]}


def test_case_19_all_good_records_load_around_nul_runs() -> None:
    got = _case("19")
    assert len(got.messages) == 9
    assert got.report.damage.counts == {"nul-bytes": 1, "bad-line": 1}
    assert got.report.damage.lines == {"nul-bytes": [5], "bad-line": [6]}


def test_case_21_lone_surrogates_are_bytes_and_print() -> None:
    got = _case("21")
    assert got.messages[0].blocks[0] == Text(b"page text with a lone high half \xed\xa0\xbd here")
    result = _results(got.messages)[0].content[0]
    assert isinstance(result, Text)
    assert "good pair 😀 end".encode() in result.data
    assert got.report.damage.counts == {"lone-surrogate": 4}
    for message in got.messages:
        message.text.encode()


def test_case_23_bytes_outside_utf8_stand_as_they_are() -> None:
    got = _case("23")
    raw = next(CASES.glob("23_*")).read_bytes().split(b"\n")[4]
    found = re.search(rb'"content": "(.*)"}', raw)
    assert found is not None
    assert _results(got.messages)[-1].content == (Text(found[1]),)
    assert got.report.damage.lines == {"invalid-utf8": [5]}
    assert "\ufffd" in _results(got.messages)[-1].text


@pytest.mark.parametrize("number", ["25", "26", "27", "28", "29", "34", "36", "38"])
def test_cases_of_content_lose_no_character(number: str) -> None:
    """Every word of these plain chats is in a message as JSON says it."""
    import json

    got = _case(number)
    told = b"\0".join(
        block.data if isinstance(block, Text) else repr(block).encode()
        for m in got.messages
        for part in m.blocks
        for block in (part.content if isinstance(part, ToolResult) else (part,))
    )
    for line in next(CASES.glob(f"{number}_*")).read_bytes().splitlines():
        content = json.loads(line).get("content")
        if isinstance(content, str):
            assert content.encode() in told
    assert got.report.damage.total == 0


def test_case_31_one_line_of_8_mb_packed() -> None:
    got = _case("31")
    assert got.roles == {"user": 1, "assistant": 2, "tool": 1}
    assert len(_results(got.messages)[0].text) > 7_900_000
    assert got.pairs == (1, 0)


def test_case_32_every_picture_is_a_blob_with_its_true_size() -> None:
    got = _case("32")
    blobs = [
        block
        for m in got.messages
        for part in m.blocks
        for block in (part.content if isinstance(part, ToolResult) else (part,))
        if isinstance(block, Blob)
    ]
    sizes = [(blob.mime, blob.width_px, blob.height_px) for blob in blobs]
    assert sizes.count(("image/png", 128, 128)) == 1
    assert sizes.count(("image/png", 9000, 2500)) == 1
    assert sizes.count(("image/png", 1, 400)) == 1  # its media type said otherwise
    assert [blob.ref for blob in blobs if blob.ref]
    for blob in blobs:
        assert blob.sha256 or blob.ref
    printed = "".join(m.text for m in got.messages)
    assert base64.b64encode(b"\x89PNG\r\n\x1a\n")[:10].decode() not in printed


@pytest.mark.parametrize("number", ["16", "19", "21", "23", "15"])
def test_damaged_cases_are_errors_when_strict(number: str) -> None:
    with (
        open_session(next(CASES.glob(f"{number}_*")), strict=True) as session,
        pytest.raises(DamageError, match=r"line \d+: .*strict"),
    ):
        list(session.messages())
