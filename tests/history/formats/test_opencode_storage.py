"""OpenCode's file store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.history.formats.test_opencode_export import info, text, tool
from tests.history.seen import SAMPLES, sample, seen


def _write(folder: Path, **files: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "storage"
    about = {"id": "ses_1", "projectID": "p", "title": "List", "time": {"created": 1}}
    _write(root / "session" / "p", ses_1=about)
    later = {**info("msg_1", "assistant"), "time": {"created": 2}}
    _write(root / "message" / "ses_1", a=later, b=info("msg_2", "user", time={"created": 1}))
    _write(root / "part" / "msg_2", prt_1={**text("List"), "id": "prt_1"})
    done = {**tool("c1", status="completed", output="a.txt"), "id": "p1"}
    _write(root / "part" / "msg_1", prt_1=done, prt_2={**text("One."), "id": "p2"})
    return root


def test_a_session_is_read_with_its_messages_by_time(store: Path) -> None:
    got = seen(store / "session" / "p" / "ses_1.json")
    assert got.format == "opencode_storage"
    assert got.roles == {"user": 1, "assistant": 2, "tool": 1}
    assert got.texts == ["List", "a.txt", "One."]
    assert got.report.info["title"] == "List"


def test_a_message_and_a_part_are_read_alone(store: Path) -> None:
    assert seen(store / "message" / "ses_1" / "a.json").texts == ["a.txt", "One."]
    assert seen(store / "part" / "msg_1" / "prt_2.json").texts == ["One."]


def test_ids_lead_nowhere_else(store: Path) -> None:
    path = store / "session" / "p" / "ses_1.json"
    for name in ("../../secret", "/etc", "..", "."):
        path.write_text(json.dumps({"id": name, "projectID": "p", "time": {}}))
        assert seen(path).messages == []


def test_a_broken_part_is_counted(store: Path) -> None:
    (store / "part" / "msg_1" / "prt_2.json").write_bytes(b'{"id": "p2", "te')
    got = seen(store / "session" / "p" / "ses_1.json")
    assert got.texts == ["List", "a.txt"]
    assert got.report.damage.counts == {"bad-line": 1}


def test_every_sample_file_is_detected() -> None:
    sample("opencode_storage")
    files = sorted((SAMPLES / "opencode_storage").rglob("*.json"))
    assert len(files) == 32
    assert {seen(path).format for path in files} == {"opencode_storage"}


@pytest.mark.parametrize(
    ("name", "roles", "first", "last"),
    [
        (
            "agentsessions/storage_v2/session/proj_test/ses_s_stage0_small",
            {"user": 1, "assistant": 2, "tool": 1},
            "Hello",
            "Found 2 files.",
        ),
        (
            "agentsessions/storage_v2/session/proj_test/ses_s_stage0_large",
            {"user": 2, "assistant": 4, "tool": 1, "note": 1},
            "Step 1",
            "Ok",
        ),
        (
            "agentsessions/storage_legacy/session/proj_test/ses_s_stage0_drift",
            {"user": 1, "assistant": 2, "tool": 1},
            "Open README",
            "Read README and extracted the title.",
        ),
        (
            "cass/session/proj1/ses_test1",
            {"user": 1, "assistant": 1},
            "Hello, can you help me with Rust?",
            "Of course! I'd be happy to help you with Rust. What would you like to know?",
        ),
    ],
)
def test_sample_sessions(name: str, roles: dict[str, int], first: str, last: str) -> None:
    got = seen(sample(f"opencode_storage/{name}.json"))
    assert (got.roles, got.texts[0], got.texts[-1]) == (roles, first, last)
