"""What is asked of a model and what it answers, the same for every provider, as frozen values.

No provider's SDK is imported here. A protocol module (openai.py, anthropic.py, gemini.py) has one
function ``send(endpoint, request, on_text) -> Completion`` that sends once, raises
:class:`~snapcompact.errors.ModelError`, and lets a cancellation through as it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from snapcompact.history.model import Usage

OnText = Callable[[str], None]
"""Told each piece of the answer as it comes; must not raise."""

MOST_ANSWER_CHARS = 4 << 20
"""An answer longer than this is cut off as garbage: no summary or page reading comes near it."""


class Failure(StrEnum):
    """Why a request failed."""

    AUTH = "auth"
    RATE_LIMIT = "rate limit"
    REFUSED = "refused"
    """The server understood and said no (4xx): too long, too large, wrong parameter, no quota."""
    UNAVAILABLE = "unavailable"
    """5xx, overloaded."""
    CONNECTION = "connection"
    """The server was never reached."""
    HANG_UP = "hang-up"
    """The server broke off after it had the request."""
    TIMEOUT = "timeout"
    GARBAGE = "garbage"
    """An answer that is not the protocol."""


class Stop(StrEnum):
    """Why an answer ended."""

    END = "end"
    LENGTH = "length"
    TOOL = "tool"
    REFUSAL = "refusal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Picture:
    """An image in a request."""

    mime: str
    data: bytes = field(repr=False)
    detail: str = ""
    """OpenAI's ``detail``; empty leaves the provider's default."""


Part = str | Picture


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side says. `role` is ``user`` or ``assistant``."""

    role: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `temperature` None and `reasoning` empty leave the provider's defaults."""

    turns: tuple[Turn, ...]
    system: str = ""
    max_tokens: int = 4096
    temperature: float | None = None
    reasoning: str = ""
    """Effort: low, medium, high."""
    stream: bool = True


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer. `attempts` counts the requests sent for it, so that none is sent in silence."""

    text: str
    stop: Stop
    usage: Usage | None = None
    model: str = ""
    raw_stop: str = ""
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how long to wait for it. The key is never printed."""

    protocol: str
    model: str
    key: str = field(default="", repr=False)
    base_url: str = ""
    """Empty is the provider's own."""
    connect_s: float = 10
    read_s: float = 120
    """Longest silence."""
    total_s: float = 900
    """Longest whole request."""

    @property
    def name(self) -> str:
        """``protocol:model``, as on the command line."""
        return f"{self.protocol}:{self.model}"

    def hide_key(self, text: str) -> str:
        """`text` without the key, which some servers repeat in their errors."""
        return text.replace(self.key, "[key]") if self.key else text


class Model(Protocol):
    """A model that can be asked; :class:`snapcompact.llm.client.Client` is the real one."""

    @property
    def name(self) -> str:
        """For messages to people."""

    async def acomplete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """The answer. Raises ModelError; a cancellation passes through."""


Send = Callable[[Endpoint, Request, OnText], Awaitable[Completion]]


def user(text: str, *pictures: Picture) -> Turn:
    """A user's turn: pictures, then words."""
    return Turn("user", (*pictures, text))
