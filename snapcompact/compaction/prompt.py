"""The texts a summarising model is sent, put together from ``prompts/*.md``.

The wording is data; the order of the parts is data too (:class:`PromptRules`). What was said in the
session is wrapped in tags, closing tags in it defused, so that no content ends its own wrapper.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from snapcompact.errors import UnknownNameError

TEMPLATES = {
    "goal": ("goal",),
    "goal-notes": ("goal", "goal-notes"),
    "five": ("five",),
    "handoff": ("handoff",),
    "prefix": ("prefix",),
    "short": ("short",),
    "branch": ("branch",),
    "small": ("small",),
    "task": ("task",),
}
"""Template name to the prompt files it is made of."""


@dataclass(frozen=True, slots=True)
class PromptRules:
    """How a prompt is put together."""

    template: str = "goal"
    order: tuple[str, ...] = (
        "conversation", "state", "task", "previous", "instructions", "update", "focus",
    )  # fmt: skip
    conversation_tag: str = "conversation"
    previous_tag: str = "previous-summary"
    instructions: str = ""
    """The caller's own instructions, in place of the template's."""


@dataclass(frozen=True, slots=True)
class PromptParts:
    """What goes into a prompt; empty parts are left out."""

    conversation: str
    previous: str = ""
    focus: str = ""
    state: str = ""
    """Structured state, such as open todos."""
    task: str = ""
    """What a first call found out about the task."""


@cache
def prompt_file(name: str) -> str:
    """The text of ``prompts/name.md``, without its last line end."""
    folder = resources.files("snapcompact.compaction") / "prompts"
    return (folder / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


def template_text(name: str) -> str:
    """The instructions of template `name`. Raises UnknownNameError."""
    if name not in TEMPLATES:
        raise UnknownNameError(
            f"no summary template {name!r}; there are: {', '.join(sorted(TEMPLATES))}"
        )
    return "\n\n".join(prompt_file(part) for part in TEMPLATES[name])


def tagged(tag: str, text: str) -> str:
    """`text` inside ``<tag>``; a closing tag of that name inside it is defused."""
    safe = re.sub(rf"</({re.escape(tag)})\s*>", r"<\\/\1>", text, flags=re.IGNORECASE)
    return f"<{tag}>\n{safe}\n</{tag}>"


def build_prompt(parts: PromptParts, rules: PromptRules) -> str:
    """The user turn a summarising model is sent. Raises UnknownNameError for the template."""
    previous = parts.previous.strip()
    made = {
        "conversation": tagged(rules.conversation_tag, parts.conversation),
        "state": tagged("structured-state", parts.state) if parts.state.strip() else "",
        "task": tagged("task-intent", parts.task) if parts.task.strip() else "",
        "previous": tagged(rules.previous_tag, previous) if previous else "",
        "instructions": rules.instructions or template_text(rules.template),
        "update": prompt_file("update") if previous else "",
        "focus": prompt_file("focus").format_map({"focus": parts.focus.strip()})
        if parts.focus.strip() else "",
    }  # fmt: skip
    return "\n\n".join(made[name] for name in rules.order if made[name])
