"""Which mode runs: the first of an ordered list that can, each one passed over with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from snapcompact.compaction.modes.command import MODES
from snapcompact.errors import FocusRefusedError, UsageError


@dataclass(frozen=True, slots=True)
class ModeRules:
    """The configured order and the limits of printed pages."""

    order: tuple[str, ...] = ("soft",)
    strict: bool = False
    """A mode asked for by name that cannot run is an error, not a warning."""
    offline: bool = False
    unrenderable_limit: float = 0.05
    """Share of characters that would be printed as escapes."""
    max_pages: int = 80
    max_page_bytes: int = 3_000_000
    page_tokens: int = 5024
    """Estimate for a page whose price is not known."""
    page_bytes: int = 170_000
    edge_pages: int = 3
    image_budgets: Mapping[str, int] | None = None
    default_image_budget: int = 5


@dataclass(frozen=True, slots=True)
class PageForecast:
    """What printing would give, before any page is printed."""

    pages: int = 0
    tokens: int = 0
    text_tokens: int = 0
    """Tokens of the same history as text."""
    bytes: int = 0
    unrenderable: float = 0
    image_cap: int = 0
    """Images a request may hold beside the caller's own; 0 is not known."""
    left_out: int = 0
    """Pages for which there is no room."""
    room: int = 0
    """Tokens that pages may take; 0 is not known."""
    must_shrink: bool = False
    """``room`` is what the pages would replace, less one; else what the window leaves."""


@dataclass(frozen=True, slots=True)
class ModeInputs:
    """All that a choice depends on."""

    asked: str | None = None
    focus: str | None = None
    guidance: str | None = None
    """Hidden instructions; they count as focus."""
    automatic: bool = False
    reason: str = ""
    """Of an automatic run: threshold, overflow, incomplete, mid-turn, idle."""
    model: str = "the model"
    reads_images: bool = True
    has_model: bool = True
    remote_endpoint: bool = False
    native_remote: bool = False
    byte_limited: bool = False
    """The request was refused for its bytes, which pages only add to."""
    forecast: PageForecast | None = None


class Code(StrEnum):
    """Why a mode cannot run, for programs."""

    FOCUS = "focus"
    TEXT_ONLY = "text-only"
    BYTE_LIMIT = "byte-limit"
    UNRENDERABLE = "unrenderable"
    TOO_MANY_PAGES = "too-many-pages"
    TOO_MANY_BYTES = "too-many-bytes"
    NO_SAVING = "no-saving"
    OFFLINE = "offline"
    NO_ENDPOINT = "no-endpoint"
    NO_ROOM = "no-room"


@dataclass(frozen=True, slots=True)
class Block:
    """Why a mode cannot run, for programs and for people."""

    code: Code
    reason: str


@dataclass(frozen=True, slots=True)
class Skip:
    """A mode passed over."""

    mode: str
    code: Code
    reason: str
    quiet: bool = False
    """Not worth a warning: the user never asked for it."""


@dataclass(frozen=True, slots=True)
class ModeDecision:
    """The mode that runs. ``extract`` says that soft does without a model."""

    mode: str
    skipped: tuple[Skip, ...] = ()
    extract: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user is told."""
        said = [skip for skip in self.skipped if not skip.quiet]
        return tuple(f"{s.mode}: {s.reason}; using {self.mode} instead" for s in said)


def _page_block(forecast: PageForecast, rules: ModeRules) -> Block | None:
    most = min(rules.max_pages, forecast.image_cap or rules.max_pages)
    room = (
        f"to be smaller than what they replace they may take {forecast.room} tokens"
        if forecast.must_shrink
        else f"the window leaves {forecast.room} tokens"
    )
    checks = (
        (
            forecast.unrenderable > rules.unrenderable_limit,
            Code.UNRENDERABLE,
            f"{forecast.unrenderable:.1%} of the characters have no glyph and would be escapes "
            f"(limit {rules.unrenderable_limit:.0%})",
        ),
        (
            forecast.left_out > 0,
            Code.TOO_MANY_PAGES,
            f"{forecast.left_out} of {forecast.pages} pages have no room: {room}, "
            f"a request holds {most} images",
        ),
        (
            forecast.pages > most,
            Code.TOO_MANY_PAGES,
            f"{forecast.pages} pages are more than the {most} images a request may hold",
        ),
        (
            forecast.bytes > rules.max_page_bytes,
            Code.TOO_MANY_BYTES,
            f"{forecast.bytes} bytes of pages are more than {rules.max_page_bytes}",
        ),
        (
            0 < forecast.text_tokens <= forecast.tokens,
            Code.NO_SAVING,
            f"pages would cost {forecast.tokens} tokens, the text costs {forecast.text_tokens}",
        ),
    )
    return next((Block(code, reason) for bad, code, reason in checks if bad), None)


def _snapcompact(inputs: ModeInputs, rules: ModeRules) -> Block | None:
    if inputs.focus or inputs.guidance:
        return Block(Code.FOCUS, "it calls no model, so it cannot follow a focus")
    if not inputs.reads_images:
        reason = f"it needs a model that reads images, and {inputs.model} reads text only"
        return Block(Code.TEXT_ONLY, reason)
    if inputs.byte_limited:
        reason = "the request was refused for its size in bytes, which pages would add to"
        return Block(Code.BYTE_LIMIT, reason)
    return _page_block(inputs.forecast, rules) if inputs.forecast else None


def _remote(inputs: ModeInputs, rules: ModeRules) -> Block | None:
    if rules.offline:
        return Block(Code.OFFLINE, "--offline forbids it")
    if not inputs.remote_endpoint and not inputs.native_remote:
        reason = f"no endpoint is configured and {inputs.model} has no compaction of its own"
        return Block(Code.NO_ENDPOINT, reason)
    return None


def _handoff(inputs: ModeInputs, rules: ModeRules) -> Block | None:
    if inputs.reason in ("overflow", "mid-turn"):
        return Block(Code.NO_ROOM, f"it needs room for an answer, which {inputs.reason} leaves not")
    return None


def _always(inputs: ModeInputs, rules: ModeRules) -> Block | None:
    return None


_BLOCKERS: Mapping[str, Callable[[ModeInputs, ModeRules], Block | None]] = {
    "handoff": _handoff,
    "remote": _remote,
    "shake": _always,
    "snapcompact": _snapcompact,
    "soft": _always,
    "window": _always,
}


def blocker(mode: str, inputs: ModeInputs, rules: ModeRules) -> Block | None:
    """Why `mode` cannot run, None where it can."""
    return _BLOCKERS[mode](inputs, rules)


def usable(order: tuple[str, ...], inputs: ModeInputs, rules: ModeRules) -> tuple[str, ...]:
    """The modes of `order` that can run, in that order."""
    return tuple(mode for mode in order if not blocker(mode, inputs, rules))


def _order(inputs: ModeInputs, rules: ModeRules) -> tuple[str, ...]:
    if inputs.asked is not None:
        return MODES[inputs.asked].order
    order = rules.order if inputs.automatic else tuple(m for m in rules.order if MODES[m].by_hand)
    if not order and not inputs.automatic:
        raise UsageError(
            "no configured compaction method can run by hand; name one: "
            f"{', '.join(mode.name for mode in MODES.values() if mode.by_hand)}"
        )
    return tuple(dict.fromkeys((*order, "soft"))) if order else ()


def choose_mode(inputs: ModeInputs, rules: ModeRules) -> ModeDecision | None:
    """The mode to run and those passed over; None where compaction is switched off.

    Raises FocusRefusedError for focus with snapcompact by name, UsageError under ``strict`` where a
    named mode cannot run, or where no configured one can run by hand.
    """
    asked = inputs.asked
    if asked is not None and (inputs.focus or inputs.guidance) and not MODES[asked].takes_focus:
        raise FocusRefusedError(
            f"{asked} takes no focus instructions; leave the focus away, or use soft or remote"
        )
    skipped: list[Skip] = []
    for mode in _order(inputs, rules):
        block = blocker(mode, inputs, rules)
        if block is None:
            return ModeDecision(mode, tuple(skipped), mode == "soft" and not inputs.has_model)
        if rules.strict and mode == asked:
            raise UsageError(f"{mode} cannot run: {block.reason}")
        skipped.append(Skip(mode, block.code, block.reason, quiet=block.code is Code.FOCUS))
    return None
