"""What agents leak: passwords, tokens, cookies, headers, credentials in URLs, key blocks, .env.

Hashes, UUIDs, commits, counts, placeholders and source code are told apart from secrets. Pure.
"""

from __future__ import annotations

import re

from snapcompact.transcript.detectors import Anchor, Rule

_PASSWORDS = rb"passw(?:or)?ds?|passwd|passphrase|pwd"
_KEYS = (
    rb"secret|tokens?|credentials?|auth|cookie|"
    rb"(?:api|access|private|encryption|signing|license|service|account)[_-]?keys?"
)
_SECRET_NAME = re.compile(rb"(?i)" + _PASSWORDS + rb"|" + _KEYS + rb"|_key$")
_PASSWORD_NAME = re.compile(rb"(?i)" + _PASSWORDS)
_VALUE = (
    rb"(?:\\{0,3}[\"'`](?P<quoted>[^\"'`\r\n\\]{1,512})(?=\\{0,3}[\"'`])"
    rb"|(?P<bare>[^\s\"'`\\,;&|<>(){}\[\]]{1,512}))"
)

_ASSIGNMENT = re.compile(
    rb"(?P<name>[\w.-]{1,96})(?:\\{0,3}[\"'`]?[ \t]{0,4}(?P<sep>=>|:=|[=:])[ \t]{0,4}"
    rb"|(?<=[\w])(?:[ \t]|\\?\",[ ]?)(?P<flag>))" + _VALUE
)
_PROSE = re.compile(
    rb"(?i)(?:" + _PASSWORDS + rb"|secret|token|api[ _-]?key)\s+(?:is|was)(?:\s*:)?\s+"
    rb"[\"'`]?(?P<value>[^\s\"'`]{6,256})"
)
_PLACEHOLDER = re.compile(
    rb"(?i)[$%<*{\[.]|(?:your|my|example|placeholder|change|dummy|insert|redacted|x{3,}|0+$|"
    rb"none|null|true|false|undefined|os\.|process\.|env|self|this|str|string|int|bytes|bool|any)"
    rb"(?![a-z]*\d)"
)
_NO_SECRET_NAMES = re.compile(
    rb"(?i)tokens?_?(?:count|type|limit|budget|usage|s?_?(?:used|in|out|before|after|per|id))|"
    rb"tokens$|max_?tokens|tokenizer|tokeniz|author|authority|sha\d*$|hash$|digest$|_id$|_url$|"
    rb"_name$|_path$|_file$|_type$|cookies?_?(?:name|jar|path|domain)"
)
_HAS_DIGIT = re.compile(rb"\d")
_ENV_NAME = re.compile(rb"(?<!\w)[A-Z][A-Z0-9_]*\Z")
_PLAIN_KEY = re.compile(rb"[\w+=~-]{8,}")


def _assigned(match: re.Match[bytes]) -> bool:
    """Whether what is assigned looks like a secret rather than code, a type or a count."""
    name, quoted = match["name"], match["quoted"]
    value: bytes = quoted if quoted is not None else match["bare"]
    if match["flag"] is not None and (not name.startswith(b"-") or value.startswith(b"-")):
        return False
    if not _SECRET_NAME.search(name) or _NO_SECRET_NAMES.search(name):
        return False
    if _PLACEHOLDER.match(value) or (value.isdigit() and len(value) < 12):
        return False
    digit = _HAS_DIGIT.search(value) is not None
    if _ENV_NAME.search(name) and match["sep"] == b"=":
        return len(value) >= 4 and (quoted is None or digit or len(value) >= 8)
    if b" " in value:
        return False
    if _PASSWORD_NAME.search(name):
        return len(value) >= 6 and (quoted is not None or digit)
    return digit and len(value) >= 8 and (quoted is not None or bool(_PLAIN_KEY.fullmatch(value)))


def _told(match: re.Match[bytes]) -> bool:
    return _HAS_DIGIT.search(match["value"]) is not None and not _PLACEHOLDER.match(match["value"])


def _user_and_password(match: re.Match[bytes]) -> bool:
    value = match["value"]
    return not value.isdigit() and not _PLACEHOLDER.match(value)


def _has_digit(match: re.Match[bytes]) -> bool:
    return _HAS_DIGIT.search(match[0]) is not None


_TOKENS = (
    (b"sk-", rb"sk-[A-Za-z0-9_-]{12,200}"),
    (b"github_pat_", rb"github_pat_[A-Za-z0-9_]{22,255}"),
    (b"aiza", rb"AIza[A-Za-z0-9_-]{35}"),
    (b"hf_", rb"hf_[A-Za-z0-9]{30,64}"),
    (b"gsk_", rb"gsk_[A-Za-z0-9]{32,64}"),
    (b"xai-", rb"xai-[A-Za-z0-9]{32,100}"),
    (b"ya29.", rb"ya29\.[A-Za-z0-9_-]{20,512}"),
    (b"npm_", rb"npm_[A-Za-z0-9]{36}"),
    (b"dop_v1_", rb"dop_v1_[a-f0-9]{64}"),
    (b"shp", rb"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    (b"pplx-", rb"pplx-[A-Za-z0-9]{32,64}"),
    (b"tvly-", rb"tvly-[A-Za-z0-9-]{20,64}"),
    (b"lin_api_", rb"lin_api_[A-Za-z0-9]{32,64}"),
    (b"nvapi-", rb"nvapi-[A-Za-z0-9_-]{40,100}"),
    (b"age-secret-key-", rb"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
)
"""Public prefixes of tokens that the library does not know (needle, shape)."""


def _token_rule(needle: bytes, shape: bytes) -> Rule:
    return Rule("token", (needle,), re.compile(rb"(?<!\w)" + shape), _has_digit)


RULES: tuple[Rule, ...] = (
    Rule(
        "private-key",
        (b"-----begin ",),
        re.compile(
            rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"
            rb"(?:(?!-----BEGIN)(?:\\[rnt\"]|[\s\x80-\xff\w+/=:;,.()@<>|\"'-])){0,32000}?"
            rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            # or a block that was cut: whole lines of base64, the last may be short
            rb"|(?:(?:\\[rn]|\s){1,8}[A-Za-z0-9+/=]{16,80})*"
            rb"(?:(?:\\[rn]|\s){1,8}[A-Za-z0-9+/]{1,64}={1,2})?)"
        ),
    ),
    Rule(
        "jwt",
        (b"eyj",),
        re.compile(rb"(?<!\w)eyJ[\w-]{6,4096}\.[\w-]{4,8192}(?:\.[\w-]{1,1024})?"),
    ),
    *(_token_rule(needle, shape) for needle, shape in _TOKENS),
    Rule(
        "authorization",
        (b"authorization",),
        re.compile(
            rb"(?i)authorization\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}[\"']?"
            rb"(?:(?:bearer|basic|token|digest|negotiate|apikey)\s+)?"
            rb"(?P<value>(?!bearer\b)[A-Za-z0-9._~+/=:-]{8,4096})"
        ),
        _has_digit,
    ),
    Rule(
        "authorization",
        (b"bearer ",),
        re.compile(rb"(?i)bearer\s+(?P<value>[A-Za-z0-9._~+/=:-]{8,4096})"),
        _has_digit,
    ),
    Rule(
        "cookie",
        (b"cookie",),
        re.compile(
            rb"(?i)cookie\\{0,3}[\"']?\s{0,4}:\s{0,4}\\{0,3}[\"']?"
            rb"(?P<value>[\w.-]{1,128}=[^\r\n\"'\\]{1,4096})"
        ),
    ),
    Rule(
        "url-password",
        (b"://",),
        re.compile(rb"://[^\s:/?#@\"'<>\\]{0,256}:(?P<value>[^\s/?#@\"'<>\\]{1,256})@"),
        _user_and_password,
    ),
    Rule(
        "password",
        (b"-u ", b"--user", b"--proxy-user"),
        re.compile(
            rb"(?<![\w-])(?:-u|--user|--proxy-user)[ =]\\{0,3}[\"']?[^\s:\"'\\]{1,128}:"
            rb"(?P<value>[^\s\"'\\]{1,256})"
        ),
        _user_and_password,
    ),
    Rule(
        "secret",
        (
            *(b"passw", b"passphrase", b"pwd", b"secret", b"token", b"credential", b"auth"),
            *(b"_key", b"-key", b"apikey", b"accesskey", b"privatekey", b"cookie"),
        ),
        _ASSIGNMENT,
        _assigned,
        Anchor.WORD,
    ),
    Rule(
        "password",
        (b"passw", b"passphrase", b"pwd", b"secret", b"token", b"api key", b"_key", b"apikey"),
        _PROSE,
        _told,
    ),
)
"""What agents leak, in the order in which kinds win where they overlap."""
