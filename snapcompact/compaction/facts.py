"""Facts a user states about themselves, found by patterns, and the state text they become."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_VALUE = r"(?P<value>[^.!?,;\n]+)"
_PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("identity", "name", rf"\bmy name is {_VALUE}"),
    ("identity", "name", rf"\bcall me {_VALUE}"),
    ("identity", "age", r"\b(?:i'm|i am) (?P<value>\d{1,3}) years old"),
    ("identity", "location", rf"\bi live in {_VALUE}"),
    ("identity", "location", rf"\b(?:i'm|i am) from {_VALUE}"),
    ("identity", "occupation", rf"\bi work as (?:an? )?{_VALUE}"),
    ("identity", "occupation", rf"\bmy job is {_VALUE}"),
    ("preferences", "favorite {noun}", rf"\bmy favou?rite (?P<noun>\w+(?: \w+)?) is {_VALUE}"),
    ("preferences", "likes", rf"\bi (?:really )?(?:like|love|enjoy) {_VALUE}"),
    ("preferences", "dislikes", rf"\bi (?:don't like|dislike|hate) {_VALUE}"),
    ("preferences", "prefers", rf"\bi prefer {_VALUE}"),
    (
        "relationships", "{noun}",
        r"\bmy (?P<noun>wife|husband|partner|son|daughter|brother|sister|mother|mom|father|dad|"
        rf"friend|boss|dog|cat)(?:'s name is| is named| is called) {_VALUE}",
    ),
    ("context", "birthday", rf"\bmy birthday is (?:on )?{_VALUE}"),
    ("context", "working on", rf"\b(?:i'm|i am) working on {_VALUE}"),
)  # fmt: skip

CATEGORIES = ("identity", "preferences", "relationships", "context")


@dataclass(frozen=True, slots=True)
class FactRules:
    """Limits of the session memory."""

    max_facts: int = 50
    max_tokens: int = 500


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. A later one of the same category and key takes its place."""

    category: str
    key: str
    value: str


def extract_facts(text: str) -> tuple[Fact, ...]:
    """Facts stated in `text`, by category and key; the last statement of a key counts."""
    found: dict[tuple[str, str], Fact] = {}
    for category, key, pattern in _PATTERNS:
        for match in re.finditer(pattern, text[:100_000], re.IGNORECASE):
            noun = match.groupdict().get("noun") or ""
            name = key.format(noun=noun.lower())
            found[category, name] = Fact(category, name, match["value"].strip())
    return tuple(sorted(found.values(), key=lambda fact: (fact.category, fact.key)))


def _state(facts: Sequence[Fact]) -> str:
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        name = fact.category if fact.category in CATEGORIES else "other"
        groups.setdefault(name, []).append(fact)
    lines = ["## Session Memory"]
    for name in (*CATEGORIES, "other"):
        if name in groups:
            lines.append(f"### {name.capitalize()}")
            lines += [f"- {fact.key}: {fact.value}" for fact in groups[name]]
    return "\n".join(lines)


def structured_state(
    facts: Sequence[Fact], count: Callable[[str], int], rules: FactRules
) -> str | None:
    """The facts as text within the budget, the last dropped first; None without any."""
    held = list(facts[: rules.max_facts])
    while held:
        text = _state(held)
        if count(text) <= rules.max_tokens:
            return text
        held.pop()
    return None


def serves_as_summary(state: str, tokens: int, window: int, share: float = 0.3) -> bool:
    """True where `state` is small enough beside the window to stand for the history by itself."""
    return bool(state.strip()) and tokens < window * share


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """When a background memory is brought up to date, and within which limits."""

    min_turns: int = 3
    min_new_tokens: int = 5000
    max_input: int = 16000
    max_output: int = 4000


CHAT_MEMORY = MemoryRules(min_new_tokens=500, max_input=4000, max_output=1000)
"""For talk without tools, where less is said between two facts."""


def memory_due(turns: int, new_tokens: int, rules: MemoryRules) -> bool:
    """True where enough turns and tokens have come since the last update or its failure."""
    return turns >= rules.min_turns and new_tokens >= rules.min_new_tokens
