"""Hypothesis strategies for messages whose text tries to imitate the transcript's grammar."""

from __future__ import annotations

import hashlib

from hypothesis import strategies as st

from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_SCOPES = ["system", "user", "ai", "tool", "note", "think", "call", "text", "image", "other", "out"]
_FORGERIES = st.sampled_from(
    [f"¶{flag}{scope}:" for flag in ("", "+", "*", "\\") for scope in _SCOPES]
    + ["<out>", "</out>", "<out error>", "<out orphan id=x>", "\\</out>", "¶", "\\¶", "\\\\<out"]
    + ["¶call:f({})", "¶user[x]:", "¶image:sha256=0", "", "\n", "\r", "\t", "\x00", " "]
).map(str.encode)
_RAW = st.one_of(
    _FORGERIES,
    st.binary(max_size=6),
    st.text(max_size=8).map(lambda s: s.encode("utf-8", "surrogatepass")),
    st.sampled_from(["\ud83d", "\ude00", "é", "日本", "😀"]).map(
        lambda s: s.encode("utf-8", "surrogatepass")
    ),
)

texts = st.lists(_RAW, max_size=6).flatmap(
    lambda parts: st.sampled_from([b"", b"\n", b" "]).map(lambda sep: sep.join(parts))
)
"""WTF-8 or any other bytes, with lines that look like the grammar's."""

names = st.one_of(
    st.sampled_from(["Bash", "mcp__x.y:z", "a b", 'q"', "x)(", "", "é\n", "\ud800"]),
    st.text(st.characters(), max_size=6),
)
ids = st.sampled_from(["a", "b", "c", "id with blank", "", '"'])
_blobs = st.builds(
    lambda kind, mime, name, width, height, data, ref: Blob(
        kind,
        mime,
        name,
        width,
        height,
        len(data),
        hashlib.sha256(data).hexdigest() if data else "",
        ref,
    ),
    st.sampled_from(["image", "file"]),
    st.sampled_from(["", "image/png", "text/x y"]),
    names,
    st.integers(0, 9999),
    st.integers(0, 9999),
    st.binary(max_size=4),
    names,
)
_others = st.builds(Other, names, texts)
_contents = st.lists(st.one_of(st.builds(Text, texts), _blobs, _others), max_size=3).map(tuple)
_results = st.builds(ToolResult, ids, _contents, st.booleans())
_thinking = st.builds(Thinking, texts, st.integers(0, 5000))
_calls = st.builds(ToolCall, ids, names, texts)
_blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, texts), _thinking, _calls, _blobs, _others
)

messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(
        Message,
        st.sampled_from([Role.USER, Role.ASSISTANT, Role.ASSISTANT, Role.SYSTEM, Role.NOTE]),
        st.lists(_blocks, max_size=4).map(tuple),
        st.one_of(st.just(""), names),
    ),
    st.builds(
        lambda result, label: Message(Role.TOOL, (result,), label),
        _results,
        st.one_of(st.just(""), names),
    ),
)
"""Messages as readers give them: a tool result is alone in a message of role TOOL."""

histories = st.lists(messages, max_size=8)
