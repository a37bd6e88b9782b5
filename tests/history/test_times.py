"""Times."""

from __future__ import annotations

from typing import Any

import pytest

from snapcompact.history.times import time_text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-02", "2026-01-02"),
        (1767323045, "2026-01-02T03:04:05.000Z"),
        (1767323045.25, "2026-01-02T03:04:05.250Z"),
        (1767323045250, "2026-01-02T03:04:05.250Z"),
        (None, ""),
        (True, ""),
        (1e300, ""),
        (float("nan"), ""),
        (10**400, ""),
    ],
)
def test_time_text(value: Any, expected: str) -> None:
    assert time_text(value) == expected
