"""Exact identifiers of a transcript: hashes, UUIDs, paths, URLs, numbers, names and the like.

One pass of compiled expressions over the bytes. What is taken is always a whole word of the text,
byte for byte; where a word's borders are in doubt (it follows a backslash that may or may not be an
escape) it is left out, because a wrong "exact" value is worse than none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log2

MOST_BYTES = 300
"""Longer words are data (base64, minified code), not identifiers."""

MOST_KEPT = 200_000
"""Different words held at once, about 40 MB; beyond that the less valuable are dropped."""

EXTENSIONS = (
    "bat|bib|bin|bmp|bz2|c|cc|cfg|class|conf|cpp|cs|css|csv|cxx|db|diff|dll|doc|docx|ex|exs|erl|gif|"
    "go|gz|h|hpp|hs|htm|html|ico|ini|ipynb|jar|java|jpeg|jpg|js|json|jsonl|jsx|kt|kts|lock|log|lua|"
    "md|mdx|mjs|cjs|ml|mod|mp3|mp4|nix|o|out|pb|pdf|php|pl|png|proto|ps1|py|pyc|pyi|pyx|r|rb|rs|rst|"
    "s|scala|sh|so|sql|sqlite|sum|svelte|svg|swift|tar|tex|tf|tgz|toml|ts|tsv|tsx|txt|vue|wasm|webp|"
    "whl|xml|xz|yaml|yml|zig|zip|zst"
)
"""Endings that make a word without a slash a file name; ``self.value`` is none."""

_WORD_BYTES = rb"A-Za-z0-9_./@+#~$-"
# What stands before the group is passed over: words behind a backslash, closing tags, and words
# glued to a letter such as é (two bytes, C3-D4). Chinese and the like end a word, as blanks do.
_GLUED = rb"[\xc3-\xd4][\x80-\xbf][" + _WORD_BYTES + rb"]*"
_TAKEN = rb"([" + _WORD_BYTES + rb"]{3,}+)(?![\xc3-\xd4])"
_WORD = re.compile(rb"\\+[" + _WORD_BYTES + rb"]*|</[A-Za-z]*|" + _GLUED + rb"|" + _TAKEN)
# Arguments of a call are JSON: there a backslash is an escape for certain.
_JSON_WORD = re.compile(rb"\\u[0-9a-fA-F]{4}|\\.|" + _GLUED + rb"|" + _TAKEN)
_BORDERS = b" \n\t\"'`()[]{}<>,;:=|!?*&^%"
# The line that opens a result holds ids of the tool's own, which mean nothing to a reader.
_RESULT_LINE = re.compile(rb"^<out [^\n]*", re.MULTILINE)
_CALL_START = re.compile(rb"\xc2\xb6[+*]?call\b")
_CALL = re.compile(rb"^\xc2\xb6[+*]?call\b[^\n]*\\[^\n]*$", re.MULTILINE)
_URL = re.compile(rb"(?<![A-Za-z0-9])[a-z][a-z0-9+]{1,9}://[A-Za-z0-9][!-~]*")
_URL_END = re.compile(rb"[\"'<>`\\)\]}|,;]")
_IRREGULAR = re.compile(rb"[A-Za-z]*[0-9][A-Za-z0-9]*|[a-z]+[A-Z][A-Za-z]*")

_KINDS = (
    ("uuid", r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    ("hash", r"(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9])([0-9a-f]{7,128}|[0-9A-F]{7,128})"),
    ("version", r"(v[0-9]+(\.[0-9]+)+|[0-9]+(\.[0-9]+){2,3})([-+][\w.+-]*[0-9A-Za-z])?"),
    ("number", r"0x[0-9a-fA-F]{2,}|(?=(\D*\d){5})-?[0-9][0-9_.]*[0-9]"),
    ("path", r"(~|\.\.?|\$\w+)(/[\w.@+~$-]+)+/?|(?=.*[A-Za-z])(/[\w.@+~$-]+)+/?"),
    ("path", r"(?=.*[A-Za-z])[\w.@+-]+(/[\w.@+~$-]+){2,}/?"),
    ("path", r"(?=.*[A-Za-z])([\w.@+-]+/)*[\w.@+-]+\.(" + EXTENSIONS + ")"),
    ("flag", r"--[A-Za-z][\w-]+"),
    ("constant", r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+"),
    ("code", r"(?=[^a-zA-Z]*[a-zA-Z])(?=(\D*\d){3})[A-Za-z0-9#][\w.#/+-]{3,63}|#[0-9]{2,}"),
    ("code", r"(?=[^a-zA-Z]*[a-zA-Z])(?=\D*\d)(?!.*[A-Za-z][a-z]{4})[A-Za-z0-9#][\w.#/+-]{3,63}"),
    ("code", r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9]{3}"),
    ("code", r"(?=.*[a-z]+[A-Z])[A-Za-z]+(-[A-Za-z]+)+|[a-z]{1,2}(-[a-z]{1,2})+"),
    ("name", r"[$@]?[A-Za-z][\w.]*([a-z0-9][A-Z]|[A-Za-z0-9]_+[A-Za-z0-9]|[0-9])[\w.]*"),
)
KINDS = ("url", *dict.fromkeys(kind for kind, _ in _KINDS))
"""Every kind, in the order in which one is tried on a word."""

# One expression for all: of named groups, the outermost that matched closes last (``lastgroup``).
_KIND = re.compile("|".join(f"(?P<{kind}_{n}>{p})" for n, (kind, p) in enumerate(_KINDS)).encode())

# Chance that a model misreads one character, as a rough scale: identifiers of 12 to 40 random
# characters came back whole between 0 and 95 % of the time (PROVIDERS.md's table of readers), which
# is 1-10 % a character; words are guarded by their spelling.
_CONFUSABLE = b"0O1lI|5S8B2Z6G"
_PAIRS = (b"rn", b"vv", b"cl")
_MISREAD_CONFUSABLE = 0.10
_MISREAD_RANDOM = 0.02
_MISREAD_WORD = 0.002


@dataclass(frozen=True, slots=True)
class Identifier:
    """An exact word of the transcript. ``offset`` is its first byte there, ``count`` how often."""

    kind: str
    text: bytes
    offset: int
    count: int

    @property
    def value(self) -> float:
        """How much a reader of pages gains by having it as text: misread easily, printed rarely."""
        return _value(self.text, self.count)


@dataclass(slots=True)
class _Found:
    """An identifier while its text is still read."""

    kind: str
    offset: int
    count: int


def _value(text: bytes, count: int) -> float:
    return misread_chance(text) / (1 + log2(count))


def misread_chance(text: bytes) -> float:
    """The chance, between 0 and 1, that a model reading `text` off a page gets it wrong."""
    irregular = b"".join(_IRREGULAR.findall(text))
    confusable = len(irregular) - len(irregular.translate(None, _CONFUSABLE))
    confusable += sum(text.count(pair) for pair in _PAIRS)
    right: float = (1 - _MISREAD_CONFUSABLE) ** confusable
    right *= (1 - _MISREAD_RANDOM) ** len(irregular)
    right *= (1 - _MISREAD_WORD) ** len(text)
    return 1 - right


def find_identifiers(blocks: Iterable[bytes], most: int = MOST_KEPT) -> list[Identifier]:
    """The identifiers of a transcript given in blocks, in the order of their first offset.

    Blocks end with a line end (but the last); nothing else of them is kept, so memory is flat.
    Only where a text has more than `most` do the least valuable drop out, the same ones each time.
    """
    found: dict[bytes, _Found] = {}
    known: dict[bytes, bytes] = {}
    start = 0
    for block in blocks:
        for word, times in _words(block).items():
            text = known.get(word)
            if text is None:
                text, kind, lead = _identifier(word)
                at = _place(block, word) if text else 0
                if b"/" in text and _goes_on(block, at, len(word)):
                    text = b""
                known[word] = text
                if text and text not in found:
                    found[text] = _Found(kind, start + at + lead, 0)
            if text:
                found[text].count += times
        start += len(block)
        if len(known) > most:
            found = _most_valuable(found, most // 2)
            known = {text: text for text in found}
    identifiers = [Identifier(f.kind, text, f.offset, f.count) for text, f in found.items()]
    return sorted(identifiers, key=lambda i: (i.offset, i.text))


def line_blocks(text: bytes, size: int = 1 << 16) -> Iterator[bytes]:
    """`text` in blocks of about `size` bytes that end with a line end."""
    at = 0
    while at < len(text):
        end = text.find(b"\n", at + size) + 1 or len(text)
        yield text[at:end]
        at = end


def _words(block: bytes) -> Counter[bytes]:
    """Words of `block` with their numbers, URLs among them; none has an escape at its border."""
    if b"<out " in block:
        block = _RESULT_LINE.sub(b"", block)
    words = Counter(_WORD.findall(block))
    for line in _CALL.findall(block):
        words.update(Counter(_JSON_WORD.findall(line)) - Counter(_WORD.findall(line)))
    words.update(map(_url, _URL.findall(block)))
    del words[b""]
    return words


def _identifier(word: bytes) -> tuple[bytes, str, int]:
    """What `word` is: text (empty for nothing), kind, and how many bytes of it stand before."""
    if len(word) > MOST_BYTES or (word[1:].isalpha() and word[1:].islower()):
        return b"", "", 0
    if b"://" in word:
        return word.rstrip(b".:-"), "url", 0
    if not word.isascii() or word.startswith(b"//"):
        return b"", "", 0
    closed = word.rstrip(b".,-+~@#$")
    text = closed if closed.startswith(b"--") else closed.lstrip(b"+-")
    match = _KIND.fullmatch(text)
    if match is None or match.lastgroup is None:
        return b"", "", 0
    return text, match.lastgroup.partition("_")[0], len(closed) - len(text)


def _place(block: bytes, word: bytes) -> int:
    """Where in `block` the word first stands as one of :func:`_words`."""
    at = block.find(word)
    while at >= 0:
        line = block.rfind(b"\n", 0, at) + 1
        if not block.startswith(b"<out ", line) and _stands(block, word, at, line):
            return at
        at = block.find(word, at + 1)
    return block.find(word)


def _stands(block: bytes, word: bytes, at: int, line: int) -> bool:
    """Whether the expressions find `word` at `at`; they are in step again after one long word."""
    around = block[at - 1 : at] + block[at + len(word) : at + len(word) + 1]
    if not around.translate(None, _BORDERS):
        return True
    start = max(line, at - MOST_BYTES)
    near = block[start : at + MOST_BYTES + 2]
    if b"://" in word:
        return any(m.start() == at - start and _url(m[0]) == word for m in _URL.finditer(near))
    patterns = (_WORD, _JSON_WORD) if _CALL_START.match(block, line) else (_WORD,)
    return any(m.start() == at - start and m[1] == word for p in patterns for m in p.finditer(near))


def _url(matched: bytes) -> bytes:
    """A URL without what closes or goes on behind it."""
    return _URL_END.split(matched, 1)[0]


def _goes_on(block: bytes, at: int, length: int) -> bool:
    """Whether a path there may go on in letters beyond ASCII, so that it is only a part."""
    return not (block[max(at - 1, 0) : at] + block[at + length : at + length + 1]).isascii()


def _most_valuable(found: dict[bytes, _Found], keep: int) -> dict[bytes, _Found]:
    """The `keep` most valuable; of equals the earlier."""
    ranked = sorted(found, key=lambda t: (-_value(t, found[t].count), found[t].offset))
    return {text: found[text] for text in ranked[:keep]}
