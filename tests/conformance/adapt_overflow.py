"""Error texts as the four systems, and our default policy, class them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from snapcompact.compaction.overflow import classify
from snapcompact.compaction.policy import preset

Adapter = Callable[[Mapping[str, Any]], Any]


def _text(given: Mapping[str, Any]) -> str:
    """The error text; a failed request alone has one."""
    return (given.get("message") or "") if given.get("stop_reason") == "error" else ""


def _boolean(name: str) -> Adapter:
    rules = preset(name).overflow
    return lambda given: classify(_text(given), rules).overflow


def _kit(given: Mapping[str, Any]) -> str:
    return classify(_text(given), preset("kit").overflow).kind


def _confidence(given: Mapping[str, Any]) -> dict[str, Any]:
    if "kind" in given:
        # Only error objects are looked at; a bare string or object is none.
        found = classify("", preset("plugsuits").overflow)
    else:
        found = classify(_text(given), preset("plugsuits").overflow)
    return {"detected": found.overflow, "confidence": found.confidence}


def _second(given: Mapping[str, Any]) -> bool:
    return classify(_text(given), preset("plugsuits").overflow_second).overflow


def _recommended(given: Mapping[str, Any]) -> dict[str, bool]:
    found = classify(_text(given), preset("default").overflow)
    return {"overflow": found.overflow, "payload_too_large": found.payload}


FUNCTIONS: Mapping[tuple[str, str], Adapter] = {
    ("kit", "classify_provider_error"): _kit,
    ("pi-mono", "is_context_overflow_text"): _boolean("pi"),
    ("oh-my-pi", "is_context_overflow_text"): _boolean("oh-my-pi"),
    ("plugsuits", "is_context_overflow_error"): _confidence,
    ("plugsuits", "should_compact_from_context_overflow"): _second,
    ("recommended", "is_context_overflow_text"): _recommended,
}
