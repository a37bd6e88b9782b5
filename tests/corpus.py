"""Where the benchmark corpus lies; tests that read it skip where it is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"
CORPUS = Path(os.environ.get("SNAPCOMPACT_CORPUS", SHARED / "corpus"))
CASES = Path(__file__).parent / "cases"
SAMPLES = Path(__file__).parents[1] / "samples"


def corpus_files() -> list[Path]:
    """The real sessions, smallest first; none where the corpus is missing."""
    return sorted(CORPUS.glob("*.jsonl"), key=lambda path: path.stat().st_size)


needs_corpus = pytest.mark.skipif(not corpus_files(), reason="the corpus is not here")
