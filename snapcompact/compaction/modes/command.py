"""The grammar of ``/compact [MODE] [FOCUS…]``, and the mode table behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from snapcompact.errors import FocusRefusedError


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to compact. ``order``: what is tried when it is asked for by name."""

    name: str
    takes_focus: bool = True
    needs_remote: bool = False
    needs_images: bool = False
    by_hand: bool = True
    """Can be asked for; the others only run by themselves."""
    order: tuple[str, ...] = ()
    overrides: Mapping[str, object] = field(default_factory=dict)
    """What a settings file would have to say for it to be the strategy."""


MODES: Mapping[str, Mode] = {
    mode.name: mode
    for mode in (
        Mode("soft", order=("soft",),
             overrides={"strategy": "context-full", "remoteEnabled": False}),
        Mode("remote", needs_remote=True, order=("remote", "soft"),
             overrides={"strategy": "context-full", "remoteEnabled": True}),
        Mode("snapcompact", takes_focus=False, needs_images=True, order=("snapcompact", "soft"),
             overrides={"strategy": "snapcompact"}),
        Mode("handoff", by_hand=False, order=("handoff",)),
        Mode("shake", by_hand=False, order=("shake",)),
        Mode("window", by_hand=False, order=("window",)),
    )
}  # fmt: skip

STRATEGIES: Mapping[str, tuple[str, ...]] = {
    "context-full": ("soft",),
    "soft": ("soft",),
    "remote": ("remote", "soft"),
    "snapcompact": ("snapcompact",),
    "handoff": ("handoff",),
    "shake": ("shake",),
    "off": (),
}
"""Names of a one-word strategy, as order of methods."""

HINT = f"[{'|'.join(mode.name for mode in MODES.values() if mode.by_hand)}] [focus]"
ALIASES = ("compact", "co", "summarize")
"""Command names."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command line asked for; ``mode`` None is the configured order."""

    mode: str | None = None
    focus: str | None = None


def parse_args(text: str) -> Asked:
    """The mode and focus of a command's arguments.

    The first word is a mode, in any case, or all of it is focus. Raises FocusRefusedError where the
    mode takes no focus and was given one.
    """
    words = text.strip()
    first = words.split(maxsplit=1)[0] if words else ""
    mode = MODES.get(first.lower())
    if mode is None or not mode.by_hand:
        return Asked(None, words or None)
    focus = words[len(first) :].strip() or None
    if focus and not mode.takes_focus:
        raise FocusRefusedError(
            f"{mode.name} calls no model and takes no focus, but was given {focus!r}; leave the "
            "focus away, or use soft or remote"
        )
    return Asked(mode.name, focus)


def parse_command(
    line: str, aliases: Sequence[str] = ALIASES, *, strict: bool = False
) -> str | None:
    """The arguments of a ``/compact`` line, None where it is another command.

    `strict` takes only one exact name followed by a blank or nothing.
    """
    if strict:
        head = f"/{aliases[0]}"
        return line[len(head) :].strip() if line == head or line.startswith(head + " ") else None
    stripped = line.strip()
    word = stripped.split(maxsplit=1)[0] if stripped else ""
    if not word.startswith("/") or word[1:].lower() not in aliases:
        return None
    return stripped[len(word) :].strip()


def resolve_order(value: object) -> tuple[str, ...]:
    """Methods in the order given: unknown names dropped, the first of equal ones kept.

    Anything but a list gives no order.
    """
    if not isinstance(value, list | tuple):
        return ()
    names = [name for name in value if isinstance(name, str)]
    return tuple(dict.fromkeys(STRATEGIES["context-full"][0] if n == "context-full" else n
                               for n in names if n in MODES or n == "context-full"))  # fmt: skip
