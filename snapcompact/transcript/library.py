"""The detectors of detect-secrets, Yelp's library, as rules of ours.

Taken are its patterns of token shapes; its entropy and keyword detectors would take hashes and
source code for secrets. Each gets needles here, because tried on every line as the library does
they read 1.5 MB/s (18 detectors, agent transcripts, one core of the bench machine).
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from snapcompact.errors import MissingExtraError
from snapcompact.transcript.detectors import Anchor, Finder, Rule
from snapcompact.transcript.leaks import RULES

_DETECTORS: dict[str, tuple[str, str, tuple[bytes, ...]]] = {
    "artifactory": ("ArtifactoryDetector", "token", (b"akc", b"artifactory", b"jfrog")),
    "aws": (
        "AWSKeyDetector",
        "aws-key",
        (b"akia", b"asia", b"abia", b"acca", b"a3t", b"aws"),
    ),
    "azure_storage_key": ("AzureStorageKeyDetector", "azure-key", (b"accountkey=",)),
    "cloudant": ("CloudantDetector", "token", (b"cloudant",)),
    "discord": ("DiscordBotTokenDetector", "token", (b"discord", b"bot ")),
    "github_token": ("GitHubTokenDetector", "token", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_")),
    "gitlab_token": (
        "GitLabTokenDetector",
        "token",
        (
            *(b"glpat-", b"gldt-", b"glft-", b"glsoat-", b"glrt-", b"gr1348941"),
            *(b"glcbt-", b"glimt-", b"glptt-", b"glagent-", b"gloas-"),
        ),
    ),
    "mailchimp": ("MailchimpDetector", "token", (b"-us1", b"-us2", b"mailchimp")),
    "npm": ("NpmDetector", "token", (b"_authtoken",)),
    "openai": ("OpenAIDetector", "token", (b"t3blbkfj",)),
    "pypi_token": ("PypiTokenDetector", "token", (b"pypi-ag",)),
    "sendgrid": ("SendGridDetector", "token", (b"sg.",)),
    "slack": ("SlackDetector", "token", (b"xox", b"hooks.slack.com")),
    "softlayer": ("SoftlayerDetector", "token", (b"softlayer",)),
    "square_oauth": ("SquareOAuthDetector", "token", (b"sq0csp-",)),
    "stripe": ("StripeDetector", "token", (b"_live_",)),
    "telegram_token": ("TelegramBotTokenDetector", "token", (b":aa",)),
    "twilio": ("TwilioKeyDetector", "token", (b"twilio", b"accountsid")),
}
"""Module of the library: its class, our kind, the needles. Sorted."""


@cache
def finder() -> Finder:
    """Our rules, then the library's, ready to be used.

    Raises MissingExtraError where the library is not installed.
    """
    found: list[Rule] = []
    for module, (name, kind, needles) in _DETECTORS.items():
        try:
            detector = getattr(import_module(f"detect_secrets.plugins.{module}"), name)
        except ImportError as error:
            raise MissingExtraError(
                "redaction needs detect-secrets: pip install 'snapcompact[redact]'"
            ) from error
        found += [
            Rule(kind, needles, _in_bytes(pattern), _mixed, Anchor.AROUND)
            for pattern in detector.denylist
        ]
    return Finder((*RULES, *found))


def _in_bytes(pattern: re.Pattern[str]) -> re.Pattern[bytes]:
    return re.compile(pattern.pattern.encode(), pattern.flags & ~re.UNICODE)


def _mixed(match: re.Match[bytes]) -> bool:
    """Not a plain word such as ``APACHELICENSE``, which one of the library's patterns takes."""
    return re.search(rb"\d", match[0]) is not None
