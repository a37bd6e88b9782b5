"""What a scripted server does, one step for each request; the last step repeats."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Say:
    """An answer."""

    text: str = "A summary."
    stop: str = "end"
    """end, length, tool or refusal."""
    input_tokens: int = 100
    output_tokens: int = 20
    cached_tokens: int = 0
    compaction: str | None = None
    """Anthropic's context management: answer with this compaction block."""


@dataclass(frozen=True)
class Fail:
    """An error status in the protocol's words."""

    status: int
    message: str = "scripted failure"
    kind: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """An answer as it stands, whatever was asked: garbage, or an endpoint of another protocol."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200


@dataclass(frozen=True)
class HangUp:
    """Break off: before the headers, or after so many events of an answer."""

    after_events: int = 0
    say: Say = Say("One two three four five six.")


@dataclass(frozen=True)
class Silence:
    """Take the request and say nothing until the server is closed."""


@dataclass(frozen=True)
class StreamError:
    """Begin to stream, then send an error event."""

    kind: str = "overloaded_error"
    message: str = "Overloaded"


Step = Say | Fail | Raw | HangUp | Silence | StreamError

OVERFLOW = {
    "anthropic": Fail(400, "prompt is too long: 213462 tokens > 200000 maximum",
                      "invalid_request_error"),
    "gemini": Fail(400, "The input token count (1200000) exceeds the maximum number of tokens "
                        "allowed (1048576).", "INVALID_ARGUMENT"),
    "openai": Fail(400, "This model's maximum context length is 128000 tokens. However, your "
                        "messages resulted in 140000 tokens.", "context_length_exceeded"),
    "openai-responses": Fail(400, "Your input exceeds the context window of this model.",
                             "context_length_exceeded"),
}  # fmt: skip
"""What each provider says when the input is too long."""
