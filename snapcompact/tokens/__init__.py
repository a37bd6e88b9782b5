"""Token counts: estimated at memory speed, exact where a tokenizer is installed, or recorded."""

from snapcompact.tokens.estimate import TokenCounter as TokenCounter
from snapcompact.tokens.estimate import estimate_stream as estimate_stream
from snapcompact.tokens.estimate import estimate_tokens as estimate_tokens
from snapcompact.tokens.estimate import prefix_tokens as prefix_tokens
from snapcompact.tokens.estimate import stated_errors as stated_errors
from snapcompact.tokens.estimate import tokens_of_parts as tokens_of_parts
from snapcompact.tokens.table import families as families

__all__ = [
    "TokenCounter",
    "estimate_stream",
    "estimate_tokens",
    "families",
    "prefix_tokens",
    "stated_errors",
    "tokens_of_parts",
]
