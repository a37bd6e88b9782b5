"""Every session at hand says the same after it was written as a transcript and parsed back."""

from __future__ import annotations

from pathlib import Path

import pytest

from snapcompact.history.session import open_session
from snapcompact.transcript.parse import parse_transcript, with_ordinal_ids
from snapcompact.transcript.write import write_transcript
from tests.history.seen import SAMPLES

ROOT = Path(__file__).parents[2]
FOLDERS = (SAMPLES, ROOT / "samples", ROOT / "tests" / "cases")
MOST_BYTES = 400_000
"""Case 31 alone is larger; it has a test of its own."""


def _files() -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted(folder.rglob("*"))]
    return [path for path in found if path.is_file() and path.stat().st_size <= MOST_BYTES]


@pytest.mark.parametrize("branch", ["active", "all"])
@pytest.mark.parametrize("path", _files(), ids=lambda path: path.name[:40])
def test_transcripts_parse_back(path: Path, branch: str) -> None:
    with open_session(path, branch=branch) as session:
        messages = list(session.messages())
    transcript = b"".join(write_transcript(messages))
    assert list(parse_transcript([transcript])) == list(with_ordinal_ids(messages))
