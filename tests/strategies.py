"""Hypothesis strategies for messages, shared by all tests."""

from __future__ import annotations

import hashlib
import json

from hypothesis import strategies as st

from snapcompact.history.model import (
    Blob,
    Block,
    Content,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)

GRAMMAR = [
    "¶",
    "¶user:",
    "¶ai:",
    "¶system:",
    "¶think:",
    "¶call:bash({})",
    "¶note:",
    "<out>",
    "<out error>",
    "</out>",
    "\\¶user:",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\0",
    "\x1b[31m",
    "\u2028",
    "\ufeff",
    "\ud83d",
    "😀",
    "漢字",
    "e\u0301",
]
"""Pieces that imitate the transcript's grammar, or that careless code trips over."""

pieces = st.one_of(st.sampled_from(GRAMMAR), st.text(max_size=8))
words = st.lists(pieces, max_size=8).map(lambda found: wtf8("".join(found)))
any_bytes = st.one_of(
    words, st.binary(max_size=24), st.tuples(words, st.binary(max_size=4)).map(b"".join)
)
"""Text as sessions may hold it: UTF-8, WTF-8, or bytes that are neither."""

some_bytes = any_bytes.filter(bool)
names = st.one_of(
    st.sampled_from(["bash", "read", "call_0", "call_0", "a b", "x(y)", ""]),
    st.lists(pieces, max_size=3).map("".join),
)

json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
json_bytes = json_values.map(lambda value: wtf8(json.dumps(value, ensure_ascii=False)))

texts = st.builds(Text, some_bytes)
thoughts = st.one_of(
    st.builds(Thinking, some_bytes),
    st.builds(Thinking, st.just(b""), st.integers(1, 10_000)),
)
others = st.builds(Other, names, st.one_of(json_bytes, any_bytes))
calls = st.builds(ToolCall, names, names, st.one_of(json_bytes, any_bytes))


def _blob(kind: str, mime: str, name: str, size: tuple[int, int], data: bytes) -> Blob:
    digest = hashlib.sha256(data).hexdigest()
    return Blob(kind, mime, name, *size, len(data), digest, "", data)


sizes = st.tuples(st.integers(0, 4000), st.integers(0, 4000))
kinds = st.sampled_from(["image", "file"])
mimes = st.sampled_from(["", "image/png", "application/pdf"])
blobs = st.one_of(
    st.builds(_blob, kinds, mimes, names, sizes, st.binary(max_size=32)),
    st.builds(lambda kind, mime, ref: Blob(kind, mime, ref=ref), kinds, mimes, names),
)

contents: st.SearchStrategy[Content] = st.one_of(texts, blobs, others)
results = st.builds(ToolResult, names, st.lists(contents, max_size=3).map(tuple), st.booleans())
spoken: st.SearchStrategy[Block] = st.one_of(texts, thoughts, calls, blobs, others)
labels = st.one_of(
    st.just(""), st.sampled_from(["context", "summary", "agent a1", "left branch"]), names
)
speakers = st.sampled_from([Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.NOTE])

messages = st.one_of(
    st.builds(Message, speakers, st.lists(spoken, min_size=1, max_size=3).map(tuple), labels),
    st.builds(Message, st.just(Role.TOOL), results.map(lambda result: (result,)), labels),
)
"""One message as readers give it: never empty, a tool result by itself."""

histories = st.lists(messages, max_size=8)
"""A history: any messages in any order, ids paired, doubled or orphaned."""
