"""What the sidecar keeps of real transcripts at budgets of tokens, and how fast it is found.

Run: python bench/sidecar.py [FILE] [--family NAME]. The default file is the corpus's
transcripts-4mb.txt (folder from SNAPCOMPACT_CORPUS), of which the first megabyte is taken, as the
peers were measured: pxpipe's list, capped at 96 tokens, kept 0 of 14 hashes and 0 of 312 paths.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from pathlib import Path

from snapcompact.tokens import estimate_tokens
from snapcompact.transcript.identifiers import KINDS, find_identifiers, line_blocks
from snapcompact.transcript.sidecar import choose

BUDGETS = (96, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000)
PAGE_CELLS, ROW_CELLS = 21_182, 178
"""A page of 8x16@11x16-1960x1904; offsets stand in for cells, which is close in this text."""


def main() -> None:
    corpus = Path(os.environ.get("SNAPCOMPACT_CORPUS", "../shared/corpus"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=corpus / "transcripts-4mb.txt")
    parser.add_argument("--family", default="claude-4.7")
    arguments = parser.parse_args()
    text = arguments.file.read_bytes()
    text = text[: text.rfind(b"\n", 0, 1_000_000) + 1]
    seconds = min(timed(text) for _ in range(5))
    found = find_identifiers(line_blocks(text))
    kinds = Counter(i.kind for i in found)
    print(f"{len(text):,} bytes, {len(found):,} identifiers, {len(text) / seconds / 1e6:.1f} MB/s")
    print("budget", *(f"{kind:>9}" for kind in KINDS))
    print("  all ", *(f"{kinds[kind]:>9}" for kind in KINDS))
    for budget in BUDGETS:
        entries = choose(
            found, locate, lambda line: estimate_tokens(line, arguments.family), budget
        )
        kept = Counter(e.identifier.kind for e in entries)
        print(f"{budget:>6}", *(f"{kept[kind]:>9}" for kind in KINDS))


def timed(text: bytes) -> float:
    start = time.process_time()
    find_identifiers(line_blocks(text))
    return time.process_time() - start


def locate(offset: int) -> tuple[int, int]:
    page, cell = divmod(offset, PAGE_CELLS)
    return page + 1, cell // ROW_CELLS + 1


if __name__ == "__main__":
    main()
