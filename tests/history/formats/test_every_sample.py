"""What holds for every shared sample of the document formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapcompact.history.export import export
from snapcompact.history.export.json import message_from_json, message_line
from snapcompact.transcript.parse import parse_transcript, with_ordinal_ids
from snapcompact.transcript.write import write_transcript
from tests.history.export.test_html import checked
from tests.history.export.test_replay import CHECKS
from tests.history.seen import SAMPLES, seen

FOLDERS = {
    "aider_history": "aider",
    "anthropic_messages": "anthropic_messages",
    "atif": "atif",
    "chatgpt_export": "chatgpt_export",
    "claude_ai_export": "claude_ai_export",
    "gemini_contents": "gemini_contents",
    "markdown_transcript": "specstory",
    "openai_finetune": "openai_finetune",
    "openai_responses": "openai_responses",
    "opencode_export": "opencode_export",
    "sharegpt": "sharegpt",
    "vercel_ai": "vercel_ai",
}
FILES = [path for folder in FOLDERS for path in sorted((SAMPLES / folder).glob("*"))]


@pytest.mark.skipif(not FILES, reason="the shared samples are not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_sample_survives_transcript_and_exports(path: Path) -> None:
    got = seen(path)
    assert got.format == FOLDERS[path.parent.name]
    assert not got.report.damage.counts
    transcript = b"".join(write_transcript(got.messages))
    assert list(parse_transcript([transcript])) == list(with_ordinal_ids(got.messages))
    lines = map(message_line, got.messages)
    assert [message_from_json(json.loads(line)) for line in lines] == got.messages
    for to, check in CHECKS.items():
        check(json.loads(b"".join(export(got.messages, to))))
    checked(got.messages)
    assert b"".join(export(got.messages, "markdown")).startswith(b"## ")
