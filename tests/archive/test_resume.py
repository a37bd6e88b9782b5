"""Appending by reading on gives what a reading of the whole file gives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from snapcompact.archive import append, names
from snapcompact.archive.append import append_archive
from snapcompact.archive.manifest import Manifest, MessageRow
from snapcompact.archive.read import open_archive
from snapcompact.archive.replay import Replay
from snapcompact.archive.verify import verify_archive
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.errors import UsageError
from snapcompact.history import resume
from snapcompact.history.formats import claude_code
from snapcompact.history.session import open_session
from tests.history.sessions import DOT, jsonl

OPTIONS = ArchiveOptions(shape="8x16@8x16-400x400", jobs=1)
Records = list[dict[str, Any]]


class Teller:
    """Makes up the records of a Claude Code session, `wild` ones with all that was ever seen."""

    def __init__(self, seed: int, wild: float) -> None:
        self.random = random.Random(seed)
        self.wild = wild
        self.records: Records = []
        self.tip: str | None = None
        self.open: list[str] = []

    def add(self, kind: str, content: object, answer: str = "", **more: object) -> None:
        number = len(self.records)
        said: dict[str, Any] = {"role": kind, "content": content}
        if answer:
            said |= {"id": answer, "model": "m", "usage": {"input_tokens": 1, "output_tokens": 2}}
        record = {
            "type": kind,
            "uuid": f"u{number}",
            "parentUuid": self.tip,
            "sessionId": "s",
            "timestamp": f"2026-11-02T10:00:{number % 60:02}.000Z",
            "message": said,
        } | more
        self.records.append(record)
        if not record.get("isSidechain"):
            self.tip = str(record["uuid"])

    def turn(self) -> None:
        """A question, or calls and their results; now and then something odd."""
        number, chance = len(self.records), self.random.random
        if chance() < 0.3:
            self.add("user", f"question {number}")
        calls = [f"t{number}-{k}" for k in range(self.random.choice((0, 1, 1, 3)))]
        self.add("assistant", [{"type": "text", "text": f"answer {number} " * 9}], f"m{number}")
        for call in calls:
            use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"n": number}}
            self.add("assistant", [use], f"m{number}")
        for call in calls:
            self.result(call, f"result of {call}\n" * self.random.randrange(1, 20))
        if chance() < self.wild:
            self.random.choice(self.oddities)()

    def result(self, call: str, text: object) -> None:
        self.add("user", [{"type": "tool_result", "tool_use_id": call, "content": text}])

    @property
    def oddities(self) -> list[Any]:
        return [
            self.rewind, self.copy, self.new_root, self.sub_agent, self.late_answer, self.late_call,
            self.picture, self.title, self.bad_line_note, self.orphan,
        ]  # fmt: skip

    def rewind(self) -> None:
        self.tip = f"u{max(0, len(self.records) - self.random.randrange(1, 30))}"

    def copy(self) -> None:
        self.records.append(self.random.choice(self.records))

    def new_root(self) -> None:
        self.tip = None
        self.add("user", "went on", isCompactSummary=True)

    def sub_agent(self) -> None:
        agent = {"agentId": "a1"} if self.random.random() < 0.7 else {}
        self.add("user", "sub-task", isSidechain=True, **agent)

    def late_answer(self) -> None:
        told = [r["message"]["id"] for r in self.records if r["message"].get("id")]
        late = self.random.choice(told[-self.random.choice((1, 90)) :])
        self.add("assistant", [{"type": "text", "text": f"more of {late}"}], late)

    def late_call(self) -> None:
        self.result(f"t{self.random.randrange(len(self.records))}-0", "again")

    def picture(self) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": DOT}
        self.add("user", [{"type": "image", "source": source}])

    def title(self) -> None:
        self.records.append(
            {"type": "ai-title", "title": f"title {len(self.records)}", "message": {}}
        )

    def bad_line_note(self) -> None:
        self.add("odd kind", "?")

    def orphan(self) -> None:
        self.result("nobody", "an orphan")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Short sessions leave points too; says of each reading whether it went on from one."""
    monkeypatch.setattr(claude_code, "FACT_RECORDS", 8)
    monkeypatch.setattr(resume, "MARK_STEPS", 3)
    seen: list[bool] = []

    def watched(archive: Any, messages: Any, known: Any = None, writer: Any = None) -> Replay:
        seen.append(known is not None)
        return Replay(archive, messages, known, writer)

    monkeypatch.setattr(append, "Replay", watched)
    return seen


def contents(out: Path) -> tuple[list[tuple[str, bytes]], list[MessageRow], list[object]]:
    """Pages, rows, and what the manifest says of the whole."""
    with open_archive(out) as archive:
        assert verify_archive(archive, jobs=1).problems == ()
        pages = [(row.text_sha256, archive.page_png(row)) for row in archive.pages()]
        m: Manifest = archive.manifest
        facts: list[object] = [m.session, m.totals, m.skipped, m.damage]
        return pages, list(archive.message_rows()), facts


def check_cuts(data: bytes, cuts: list[int], folder: Path, name: str = "claude_code") -> None:
    """Growing at `cuts` (bytes) gives the archive of the whole."""
    source = folder / "session.jsonl"
    source.write_bytes(data)
    write_archive(open_session(source, format=name), folder / "whole", OPTIONS)
    for number, cut in enumerate([*cuts, len(data)]):
        source.write_bytes(data[:cut])
        session = open_session(source, format=name)
        if number:
            append_archive(session, folder / "grown", jobs=1)
        else:
            write_archive(session, folder / "grown", OPTIONS)
    assert contents(folder / "grown") == contents(folder / "whole")


def tree(name: str, seed: int, rewinds: float) -> Records:
    """Records of a pi or kit session."""
    chance = random.Random(seed)
    records: Records = [{"type": "session", "version": 3, "id": "s", "cwd": "/w"}]
    tip = ""
    for number in range(140):
        entry = f"e{number}"
        role, said = ("user", "toolResult", "assistant")[number % 3], f"said {number} " * 9
        call = f"c{number - number % 3}"  # an answer's call, and the result behind the question
        if name == "pi":
            use = {"type": "toolCall", "id": f"c{number + 1}", "name": "bash", "arguments": {}}
            parts: Any = [{"type": "text", "text": said}] + [use] * (role == "assistant")
            message = {"role": role, "content": parts, "toolCallId": call}
            record = {"type": "message", "id": entry, "parentId": tip or None, "message": message}
        else:
            kinds: Any = [{"type": "text", "data": {"text": said}}]
            if role == "assistant":
                use = {"id": f"c{number + 1}", "name": "bash", "input": "{}"}
                kinds.append({"type": "tool_call", "data": use})
            elif role == "toolResult":
                result = {"tool_call_id": call, "content": said}
                kinds = [{"type": "tool_result", "data": result}]
            kit_role = "tool" if role == "toolResult" else role
            record = {"type": "message", "id": entry, "role": kit_role, "parts": kinds}
            record |= {"parent_id": tip} if tip else {}
        records.append(record)
        if number % 20 == 7:
            records.append({"type": "session_info", "id": f"n{number}", "name": f"name {number}"})
            records[-1]["parentId" if name == "pi" else "parent_id"] = entry
            entry = f"n{number}"
        tip = entry
        if chance.random() < rewinds and number > 10:
            tip = f"e{number - chance.randrange(2, 9)}"
    return records


@pytest.mark.parametrize("name", ["pi", "kit"])
@pytest.mark.parametrize("rewinds", [0.0, 0.06])
def test_a_tree_with_one_path_is_read_on(
    name: str, rewinds: float, tmp_path: Path, told: list[bool]
) -> None:
    data = jsonl(tree(name, 5, rewinds))
    cuts = random.Random(6).sample(line_ends(data)[40:], 3)
    refused = ""
    try:
        check_cuts(data, sorted(cuts), tmp_path, name)
    except UsageError as error:
        refused = str(error)
    assert "rewound" in refused if rewinds else told == [True] * 3


def rollout(seed: int, wild: float) -> Records:
    """Records of a Codex rollout: items, and the events that tell them again."""
    chance = random.Random(seed)
    records: Records = []

    def add(kind: str, **payload: Any) -> None:
        records.append({"timestamp": "2026-01-02T03:04:05Z", "type": kind, "payload": payload})

    add("session_meta", id="s", cwd="/w", cli_version="1")
    for number in range(260):
        call, said = f"c{number}", f"said {number} of it. " * 4 + "End."
        asked = {"type": "input_text", "text": f"asked {number}"}
        answered = {"type": "output_text", "text": said}
        if number % 9 == 0:
            add("turn_context", model=f"m{number // 50}")
            add("response_item", type="message", role="user", content=[asked])
            add("event_msg", type="user_message", message=asked["text"])
        if chance.random() < 0.5:
            add("event_msg", type="agent_message", message=said)
        add("response_item", type="message", role="assistant", content=[answered])
        add("response_item", type="function_call", name="sh", arguments="{}", call_id=call)
        add("event_msg", type="token_count", info={"last_token_usage": {"input_tokens": number}})
        add("event_msg", type="exec_command_end", call_id=call)
        add("response_item", type="function_call_output", call_id=call, output=said)
        if chance.random() < wild:
            late = f"c{chance.randrange(number + 1)}"
            odd: list[dict[str, Any]] = [
                {"type": "exec_command_end", "call_id": late},
                {"type": "item_completed", "item": {"type": "Plan", "id": "p", "text": said}},
                {"type": "agent_message", "message": f"never an item {number}"},
                {"type": "error", "message": f"odd {number}"},
            ]
            add("event_msg", **chance.choice(odd))
    return records


@pytest.mark.parametrize("wild", [0.0, 0.03])
def test_a_rollout_is_read_on(wild: float, tmp_path: Path, told: list[bool]) -> None:
    data = jsonl(rollout(4, wild))
    cuts = random.Random(7).sample(line_ends(data)[700:], 3)
    check_cuts(data, sorted(cuts), tmp_path, "codex_rollout")
    assert wild or told == [True] * 3


def line_ends(data: bytes) -> list[int]:
    return [at + 1 for at, byte in enumerate(data) if byte == 10]


@pytest.mark.parametrize("seed", range(2))
def test_a_plain_session_is_read_on(seed: int, tmp_path: Path, told: list[bool]) -> None:
    teller = Teller(seed, wild=0.0)
    while len(teller.records) < 150:
        teller.turn()
    data = jsonl(teller.records)
    cuts = sorted(teller.random.sample(line_ends(data)[60:], 4))
    cuts[2] += 7  # in the middle of a line, as while it is being written
    check_cuts(data, cuts, tmp_path)
    assert told == [True] * 4


@pytest.mark.parametrize("seed", range(6))
def test_a_wild_session_grows_as_one_read_whole(
    seed: int, tmp_path: Path, told: list[bool]
) -> None:
    teller = Teller(seed, wild=0.15)
    while len(teller.records) < 120:
        teller.turn()
    data = jsonl(teller.records)
    cuts = sorted(teller.random.sample(line_ends(data)[50:], 3))
    refused = ""
    try:
        check_cuts(data, cuts, tmp_path)
    except UsageError as error:
        refused = str(error)
    assert not refused or "rewound" in refused  # a rewind took archived messages back


def grown(tmp_path: Path, records: Records, first: int, told: list[bool]) -> bool:
    """Archive the first records, append the others; whether the append read on."""
    data = jsonl(records)
    check_cuts(data, [line_ends(data)[first - 1]], tmp_path)
    return told[-1]


def test_what_goes_back_behind_the_point_is_read_whole(tmp_path: Path, told: list[bool]) -> None:
    """A copy of an old record, and an old answer that goes on, change what is told of them."""
    for number, odd in enumerate(("copy", "answer", "late result", "nothing")):
        teller = Teller(9, wild=0.0)
        while len(teller.records) < 100:
            teller.turn()
        first = len(teller.records)
        answers = [r["message"]["id"] for r in teller.records if r["type"] == "assistant"]
        if odd == "copy":
            teller.records.append(teller.records[11])
        elif odd == "answer":
            teller.add("assistant", [{"type": "text", "text": "more"}], answers[5])
        elif odd == "late result":
            teller.result("t3-0", "again")
        teller.turn()
        folder = tmp_path / str(number)
        folder.mkdir()
        assert grown(folder, teller.records, first, told) is (odd in ("nothing", "late result"))


def test_check_refuses_an_edited_old_line(tmp_path: Path, told: list[bool]) -> None:
    """Which reading on does not meet, and both edges are as they were."""
    teller = Teller(3, wild=0.0)
    while len(teller.records) < 500:
        teller.turn()
    data = jsonl(teller.records)
    cut, middle = line_ends(data)[-9], data.index(b"answer", len(data) // 2)
    assert append._EDGE_BYTES < middle < cut - append._EDGE_BYTES
    source, out = tmp_path / "s.jsonl", tmp_path / "a"
    source.write_bytes(data[:cut])
    write_archive(open_session(source), out, OPTIONS)
    before = (out / names.MANIFEST).read_bytes()
    source.write_bytes(data[:middle] + b"ANSWER" + data[middle + 6 :])
    with pytest.raises(UsageError, match="does not begin with the source"):
        append_archive(open_session(source), out, check=True)
    assert (out / names.MANIFEST).read_bytes() == before
    source.write_bytes(data)
    append_archive(open_session(source), out, check=True)
    assert told == [True]


def test_pictures_of_the_last_message_are_counted_once(tmp_path: Path) -> None:
    teller = Teller(3, wild=0.0)
    teller.picture()
    teller.add("assistant", "seen")
    data = jsonl(teller.records)
    check_cuts(data, [line_ends(data)[0]], tmp_path)
    with open_archive(tmp_path / "grown") as archive:
        assert archive.manifest.totals["blobs"] == 1


def test_a_point_that_is_none_is_passed_over(tmp_path: Path, told: list[bool]) -> None:
    teller = Teller(3, wild=0.0)
    while len(teller.records) < 100:
        teller.turn()
    data = jsonl(teller.records)
    cut = line_ends(data)[80]
    source = tmp_path / "session.jsonl"
    for number, spoil in enumerate(("row", "ids")):
        out = tmp_path / str(number)
        source.write_bytes(data[:cut])
        write_archive(open_session(source), out, OPTIONS)
        if spoil == "ids":
            (out / names.RECORDS).write_bytes(b"")
        else:
            manifest = out / names.MANIFEST
            offset = b'"offset": %d,\n    "line"' % _point(out)
            assert offset in manifest.read_bytes()
            manifest.write_bytes(manifest.read_bytes().replace(offset, b'"offset": 5,\n    "line"'))
        source.write_bytes(data)
        append_archive(open_session(source), out, jobs=1)
        assert told[-1] is False
    assert contents(tmp_path / "0")[:2] == contents(tmp_path / "1")[:2]


def _point(out: Path) -> int:
    with open_archive(out) as archive:
        return int(archive.manifest.resume["offset"])
