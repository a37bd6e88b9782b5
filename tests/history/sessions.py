"""Made-up session files for tests, from records."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/"
    "P8Fu7N9hAAAAAElFTkSuQmCC"
)
"""A picture of 8 × 8 pixels, in base64."""


def jsonl(records: Iterable[Any]) -> bytes:
    """`records` as a tool that writes JSON Lines would write them."""
    return b"".join(
        json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        for record in records
    )
