"""oh-my-pi: the mode table, its fallbacks and who is asked next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from snapcompact.compaction.modes.candidates import next_try
from snapcompact.compaction.modes.choose import (
    Code,
    ModeInputs,
    ModeRules,
    PageForecast,
    blocker,
    choose_mode,
    usable,
)
from snapcompact.compaction.modes.command import MODES, parse_args
from snapcompact.compaction.outcome import Reason, manual_gate
from snapcompact.compaction.policy import preset
from snapcompact.errors import FocusRefusedError, UsageError

OMP = preset("oh-my-pi")


def parse_args_vector(given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        asked = parse_args(given["args"])
    except FocusRefusedError:
        return {"mode": None, "focus": None, "error": "focus not allowed"}
    return {"mode": asked.mode, "focus": asked.focus, "error": None}


def mode_def(given: Mapping[str, Any]) -> dict[str, Any] | None:
    mode = MODES.get(given["mode"])
    if mode is None or not mode.by_hand:
        return None
    return {
        "overrides": dict(mode.overrides),
        "rejects_focus": not mode.takes_focus,
        "requires_remote": mode.needs_remote,
    }


_GATES = {
    Reason.BUSY: {"error": "Compaction already in progress"},
    Reason.NO_MESSAGES: {"error": "Nothing to compact (session too small)"},
    Reason.ALREADY: {"error": "Already compacted"},
    Reason.CANCELLED: {
        "error": "Compaction cancelled", "class": "cancelled (typed), not failed",
    },
}  # fmt: skip


_NO_FOCUS = {"error": "/compact snapcompact does not take focus instructions"}


_NOT_SEEING = "snapcompact needs a vision-capable model ({who} is text-only)"


def _gated(given: Mapping[str, Any]) -> dict[str, Any] | None:
    if given.get("interactive") and given.get("message_entries", 2) < 2:
        return {"warning": "Nothing to compact (no messages yet)", "outcome": "ok"}
    gate = manual_gate(
        running=bool(given.get("already_running")),
        messages=given.get("entries", 2),
        last_is_compaction=given.get("last_entry") == "compaction",
        cancelled=given.get("hook") == "cancel",
    )
    return _GATES[gate.reason] if gate else None


def _inputs(given: Mapping[str, Any]) -> ModeInputs:
    forecast = PageForecast(unrenderable=given.get("unrenderable_ratio", 0))
    return ModeInputs(
        asked=given.get("mode"),
        focus=given.get("focus"),
        guidance=given.get("internal_guidance"),
        reads_images="image" in given.get("model_input", ["text", "image"]),
        remote_endpoint=bool(given.get("remote_endpoint")),
        native_remote=bool(given.get("native_remote") or given.get("fallback_models")),
        forecast=forecast,
    )


def _strict_error(given: Mapping[str, Any], inputs: ModeInputs) -> dict[str, Any]:
    block = blocker("snapcompact", inputs, OMP.modes)
    assert block is not None
    if block.code is Code.TEXT_ONLY:
        return {
            "error": "snapcompact cannot run locally: <model> is text-only.",
            "warning": _NOT_SEEING.format(who="<model>"),
        }
    share = given.get("unrenderable_ratio", 0)
    return {"error": f"snapcompact cannot render this conversation locally: ... ({share:.1%})"}


def manual(given: Mapping[str, Any]) -> dict[str, Any]:
    gated = _gated(given)
    if gated:
        return gated
    strategy = given.get("strategy", "context-full")
    order = ("soft",) if strategy == "context-full" else (strategy,)
    strict = not str(given.get("revision", "July")).startswith("June")
    inputs = _inputs(given)
    try:
        decision = choose_mode(inputs, replace(OMP.modes, order=order, strict=strict
                                               and inputs.asked == "snapcompact"))  # fmt: skip
    except FocusRefusedError:
        return _NO_FOCUS
    except UsageError:
        return _strict_error(given, inputs)
    assert decision is not None
    return _ran(given, decision.mode, [s.code for s in decision.skipped if not s.quiet])


def _ran(given: Mapping[str, Any], mode: str, codes: list[Code]) -> dict[str, Any]:
    if mode == "remote":
        where = "native remote"
        if given.get("fallback_models"):
            where = "native remote on the capable candidate"
        elif given.get("remote_endpoint"):
            where = "remote endpoint"
        return {"runs": where, "warning": None, "error": None}
    if Code.NO_ENDPOINT in codes:
        said = "remote compaction is unavailable for <model> ... using a local summary instead"
        return {"runs": "local summary (soft)", "warning": said, "error": None}
    if mode == "snapcompact":
        return {"runs": "snapcompact", "warning": None, "error": None}
    said_or_none = (
        _NOT_SEEING.format(who="...") + " - using an LLM summary instead"
        if Code.TEXT_ONLY in codes else None
    )  # fmt: skip
    return {"runs": "LLM summary (soft)", "warning": said_or_none, "error": None}


_STRATEGY = {"soft": "context-full"}


def _forecast(blocked: str) -> PageForecast | None:
    if "unrenderable" in blocked:
        return PageForecast(unrenderable=0.06)
    if blocked:
        return PageForecast(pages=81, bytes=3_000_001)
    return None


def auto(given: Mapping[str, Any]) -> dict[str, Any]:
    strategy = given["strategy"]
    order = () if strategy == "off" else (("soft",) if strategy == "context-full" else (strategy,))
    inputs = ModeInputs(
        automatic=True,
        reason="mid-turn"
        if given.get("mid_turn")
        else given.get("reason", "threshold").replace("_", "-"),
        reads_images="image" in given.get("model_input", ["text", "image"]),
        forecast=_forecast(given.get("blocker", "")),
    )
    decision = choose_mode(inputs, replace(OMP.modes, order=order))
    if decision is None:
        return {"action": "none"}
    action = _STRATEGY.get(decision.mode, decision.mode)
    warns = any(skip.mode == "snapcompact" for skip in decision.skipped)
    return {"action": action, "warning": warns, "error": None}


def _case_inputs(mode: str, what: str) -> ModeInputs:
    return ModeInputs(
        automatic=True,
        reason=what if mode == "handoff" else "threshold",
        reads_images="text-only" not in what,
        remote_endpoint="endpoint" in what and "no endpoint" not in what,
        native_remote="native" in what and "no native" not in what,
        byte_limited="413" in what,
    )


def usable_vector(given: Mapping[str, Any]) -> list[bool]:
    return [
        blocker(mode, _case_inputs(mode, what), ModeRules()) is None
        for mode, what in given["cases"]
    ]


def walk(given: Mapping[str, Any]) -> list[str]:
    model = given["model"]
    inputs = ModeInputs(
        automatic=True,
        reason=given["reason"],
        native_remote=bool(model.get("native_remote")),
        remote_endpoint=bool(given.get("endpoint")),
        reads_images="image" in model["input"],
    )
    return list(usable(tuple(given["order"]), inputs, ModeRules()))


def retry(given: Mapping[str, Any]) -> dict[str, Any]:
    found = next_try(given["error"], delay_ms=given.get("delay_ms", 0))
    if not found.next_candidate:
        return {"next": "same model after the delay"}
    never = "" if found.same_model_allowed else ", never the same model"
    return {"next": f"next candidate{never}"}
