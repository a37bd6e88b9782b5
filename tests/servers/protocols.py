"""One scripted answer in the words of each protocol, whole or as a stream of events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.servers.script import Say

Json = dict[str, Any]
MODEL = "scripted"


class Event(NamedTuple):
    """One server-sent event; `name` is empty where the protocol names none."""

    name: str
    data: Json


_CHAT = {"end": "stop", "length": "length", "tool": "tool_calls", "refusal": "content_filter"}
_ANTHROPIC = {"end": "end_turn", "length": "max_tokens", "tool": "tool_use", "refusal": "refusal"}
_GEMINI = {"end": "STOP", "length": "MAX_TOKENS", "tool": "UNEXPECTED_TOOL_CALL",
           "refusal": "SAFETY"}  # fmt: skip


def pieces(text: str) -> list[str]:
    """`text` in a few pieces, as a model streams it."""
    size = max(1, len(text) // 3)
    return [text[i : i + size] for i in range(0, len(text), size)]


def _chat_usage(say: Say) -> Json:
    return {
        "prompt_tokens": say.input_tokens,
        "completion_tokens": say.output_tokens,
        "total_tokens": say.input_tokens + say.output_tokens,
        "prompt_tokens_details": {"cached_tokens": say.cached_tokens},
    }


def chat_whole(say: Say) -> Json:
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": MODEL,
        "choices": [{"index": 0, "finish_reason": _CHAT[say.stop],
                     "message": {"role": "assistant", "content": say.text}}],
        "usage": _chat_usage(say),
    }  # fmt: skip


def chat_events(say: Say) -> Iterator[Event]:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    for piece in pieces(say.text):
        delta = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
        yield Event("", {**head, "choices": [delta]})
    ended = {"index": 0, "delta": {}, "finish_reason": _CHAT[say.stop]}
    yield Event("", {**head, "choices": [ended]})
    yield Event("", {**head, "choices": [], "usage": _chat_usage(say)})


def responses_whole(say: Say) -> Json:
    incomplete = {"length": "max_output_tokens", "refusal": "content_filter"}.get(say.stop)
    content = {"type": "output_text", "text": say.text, "annotations": []}
    output: list[Json] = [{"type": "message", "id": "m1", "role": "assistant",
                           "status": "completed", "content": [content]}]  # fmt: skip
    if say.stop == "tool":
        output.append({"type": "function_call", "id": "f1", "call_id": "k1", "name": "ls",
                       "arguments": "{}", "status": "completed"})  # fmt: skip
    return {
        "id": "r1", "object": "response", "created_at": 1, "model": MODEL, "output": output,
        "status": "incomplete" if incomplete else "completed",
        "incomplete_details": {"reason": incomplete} if incomplete else None,
        "usage": {"input_tokens": say.input_tokens, "output_tokens": say.output_tokens,
                  "total_tokens": say.input_tokens + say.output_tokens,
                  "input_tokens_details": {"cached_tokens": say.cached_tokens},
                  "output_tokens_details": {"reasoning_tokens": 0}},
    }  # fmt: skip


def responses_events(say: Say) -> Iterator[Event]:
    for number, piece in enumerate(pieces(say.text)):
        kind = "response.output_text.delta"
        yield Event(kind, {"type": kind, "item_id": "m1", "output_index": 0, "content_index": 0,
                           "delta": piece, "sequence_number": number})  # fmt: skip
    whole = responses_whole(say)
    kind = f"response.{whole['status']}"
    yield Event(kind, {"type": kind, "response": whole, "sequence_number": 99})


def _anthropic_usage(say: Say) -> Json:
    return {
        "input_tokens": say.input_tokens - say.cached_tokens,
        "cache_read_input_tokens": say.cached_tokens,
        "output_tokens": say.output_tokens,
    }


def anthropic_whole(say: Say) -> Json:
    content: list[Json] = [{"type": "text", "text": say.text}] if say.text else []
    if say.compaction is not None:
        content = [{"type": "compaction", "content": say.compaction}]
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": MODEL, "content": content,
        "stop_reason": _ANTHROPIC[say.stop], "stop_sequence": None, "usage": _anthropic_usage(say),
    }  # fmt: skip


def anthropic_events(say: Say) -> Iterator[Event]:
    whole = anthropic_whole(say)
    usage = whole["usage"] | {"output_tokens": 1}
    begun = {**whole, "content": [], "stop_reason": None, "usage": usage}
    yield _named({"type": "message_start", "message": begun})
    block = {"type": "text", "text": ""}
    yield _named({"type": "content_block_start", "index": 0, "content_block": block})
    for piece in pieces(say.text):
        delta = {"type": "text_delta", "text": piece}
        yield _named({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _named({"type": "content_block_stop", "index": 0})
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _named({"type": "message_delta", "delta": ended, "usage": whole["usage"]})
    yield _named({"type": "message_stop"})


def _named(data: Json) -> Event:
    return Event(data["type"], data)


def _gemini(say: Say, text: str, *, last: bool) -> Json:
    candidate: Json = {"index": 0, "content": {"role": "model", "parts": [{"text": text}]}}
    if last:
        candidate["finishReason"] = _GEMINI[say.stop]
    usage = {
        "promptTokenCount": say.input_tokens, "candidatesTokenCount": say.output_tokens,
        "cachedContentTokenCount": say.cached_tokens,
        "totalTokenCount": say.input_tokens + say.output_tokens,
    }  # fmt: skip
    return {"candidates": [candidate], "modelVersion": MODEL, "usageMetadata": usage}


def gemini_whole(say: Say) -> Json:
    return _gemini(say, say.text, last=True)


def gemini_events(say: Say) -> Iterator[Event]:
    parts = pieces(say.text) or [""]
    for number, piece in enumerate(parts):
        yield Event("", _gemini(say, piece, last=number == len(parts) - 1))


class Writer(NamedTuple):
    """How a protocol answers."""

    whole: Callable[[Say], Json]
    events: Callable[[Say], Iterator[Event]]
    done: bool = False
    """A ``[DONE]`` line ends the stream."""


WRITERS = {
    "anthropic": Writer(anthropic_whole, anthropic_events),
    "gemini": Writer(gemini_whole, gemini_events),
    "openai": Writer(chat_whole, chat_events, done=True),
    "openai-responses": Writer(responses_whole, responses_events),
}


def protocol_of(path: str) -> str:
    """The protocol a request path belongs to, "" for none."""
    if ":generateContent" in path or ":streamGenerateContent" in path:
        return "gemini"
    ends = {"/chat/completions": "openai", "/responses": "openai-responses",
            "/messages": "anthropic"}  # fmt: skip
    return next((name for end, name in ends.items() if path.endswith(end)), "")


def error_body(protocol: str, status: int, message: str, kind: str) -> Json:
    """An error in the words of `protocol`."""
    if protocol == "anthropic":
        return {"type": "error", "error": {"type": kind or "api_error", "message": message}}
    if protocol == "gemini":
        return {"error": {"code": status, "message": message, "status": kind or "UNKNOWN"}}
    return {"error": {"message": message, "type": kind or "error", "code": kind, "param": None}}
