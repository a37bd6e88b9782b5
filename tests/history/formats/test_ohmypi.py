"""oh-my-pi 18 and later."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from snapcompact.history.model import Blob, Role, ToolResult
from tests.history.seen import sample, seen
from tests.history.sessions import DOT, jsonl

DATA = base64.b64decode(DOT)
HASH = hashlib.sha256(DATA).hexdigest()
TITLE = {"type": "title", "v": 1, "title": "Slot", "updatedAt": "t", "pad": "   "}
HEADER = {"type": "session", "version": 3, "id": "s", "cwd": "/w"}


def _picture(entry: str, parent: str | None, reference: str) -> dict[str, Any]:
    content = [{"type": "image", "data": reference, "mimeType": "image/webp"}]
    said = {"role": "toolResult", "toolCallId": "c", "content": content}
    return {"type": "message", "id": entry, "parentId": parent, "message": said}


def _blobs(path: Path | bytes) -> list[Blob]:
    return [
        part
        for message in seen(path).messages
        for block in message.blocks
        for part in (block.content if isinstance(block, ToolResult) else (block,))
        if isinstance(part, Blob)
    ]


def test_sample() -> None:
    got = seen(sample("ohmypi_session/gen-omp-18.2.3-titleslot-blobref.jsonl"))
    assert got.format == "ohmypi"
    assert got.kinds == {"Text": 9, "Thinking": 6, "ToolCall": 3, "ToolResult": 3}
    assert got.pairs == (3, 0)
    assert got.texts[0] == "Please list the words"
    assert got.texts[-1] == 'Done: no tool was needed for "Attached image(s) from tool result: ".'
    assert got.report.skipped["custom tool_execution_start"] == 3
    assert got.report.damage.total == 0


def test_sample_pictures_come_from_the_blob_folder_beside() -> None:
    found = _blobs(sample("ohmypi_session/gen-omp-18.2.3-titleslot-blobref.jsonl"))
    assert [(b.mime, b.width_px, b.height_px, b.size > 0) for b in found] == [
        ("image/webp", 200, 200, True),
        ("image/webp", 200, 200, True),
    ]


def test_references_are_followed_only_to_the_blob_they_name(tmp_path: Path) -> None:
    folder = tmp_path / "agent" / "blobs"
    session = tmp_path / "agent" / "sessions" / "-w" / "x.jsonl"
    session.parent.mkdir(parents=True)
    folder.mkdir()
    (folder / HASH).write_bytes(DATA)
    wrong = "0" * 64
    (folder / wrong).write_bytes(b"something else")
    gone = "1" * 64
    records = [
        TITLE,
        HEADER,
        _picture("1", None, f"blob:sha256:{HASH}"),
        _picture("2", "1", f"blob:sha256:{wrong}"),
        _picture("3", "2", f"blob:sha256:{gone}"),
        _picture("4", "3", "blob:sha256:../../x.jsonl"),
    ]
    session.write_bytes(jsonl(records))
    found = _blobs(session)
    assert [(b.sha256, b.ref) for b in found] == [
        (HASH, ""),
        ("", f"blob:sha256:{wrong}"),
        ("", f"blob:sha256:{gone}"),
        ("", "blob:sha256:../../x.jsonl"),
    ]
    assert found[0].data == DATA
    assert _blobs(session.read_bytes())[0].ref == f"blob:sha256:{HASH}"


def test_titles_and_entries_of_its_own() -> None:
    got = seen(
        jsonl(
            [
                TITLE,
                HEADER,
                {
                    "type": "session_init",
                    "id": "1",
                    "parentId": None,
                    "systemPrompt": "You are",
                    "task": "Look",
                },
                {"type": "model_change", "id": "2", "parentId": "1", "model": "p/m"},
                {"type": "reset_boundary", "id": "3", "parentId": "2"},
                {"type": "title_change", "id": "4", "parentId": "3", "title": "New title"},
                {"type": "credential_pin", "id": "5", "parentId": "4", "secret": "x"},
                {
                    "type": "compaction",
                    "id": "6",
                    "parentId": "5",
                    "summary": "S",
                    "preserveData": {
                        "snapcompact": {"frames": [{"data": DOT, "mimeType": "image/png"}]}
                    },
                },
            ]
        )
    )
    assert [(str(m.role), m.label, m.text) for m in got.messages] == [
        ("system", "", "You are"),
        ("user", "context", "Look"),
        ("note", "reset", "Context reset"),
        ("note", "compaction", "S"),
    ]
    frame = got.messages[3].blocks[-1]
    assert isinstance(frame, Blob)
    assert frame.sha256 == HASH
    assert got.report.info["title"] == "New title"
    assert got.messages[0].role is Role.SYSTEM
