"""Times as session files spell them. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

_MILLISECONDS_FROM = 100_000_000_000
"""Numbers from here on are milliseconds: as seconds they would lie beyond the year 5138."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time_text(value: Any) -> str:
    """`value` as it stands where it is text, as ISO 8601 in UTC where it is a number since 1970.

    Empty for anything else and for numbers that no calendar has.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ""
    try:
        seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
        moment = _EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return ""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
