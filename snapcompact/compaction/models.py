"""The model that summarises: from the command line, else the settings, else none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from snapcompact.errors import UsageError
from snapcompact.llm.client import PROTOCOLS, Client, find_endpoint

if TYPE_CHECKING:
    from snapcompact.compaction.modes.job import Say
    from snapcompact.compaction.settings import Settings
    from snapcompact.llm.contract import Completion, Endpoint, Model, OnText, Request


class Summariser(NamedTuple):
    """The model that is asked and where it is; None without one, and why in ``missing``."""

    model: Model | None = None
    endpoint: Endpoint | None = None
    missing: str = ""


def summariser(
    name: str, settings: Settings, *, base_url: str = "", key_env: str = "", offline: bool = False,
    say: Say, environ: Mapping[str, str] | None = None,
) -> Summariser:  # fmt: skip
    """Who writes summaries: ``apply.summary_model`` of the settings, else the model `name`.

    A name without a protocol says foremost who reads the session: where no key is found for it, an
    extract does, and ``missing`` says so. `say` is told of requests that are sent again.
    Raises UsageError for a named protocol without a key.
    """
    chosen = str(settings.value("apply.summary_model")) or name
    if not chosen or offline:
        return Summariser()
    try:
        endpoint = find_endpoint(chosen, base_url=base_url, key_env=key_env, environ=environ)
    except UsageError as error:
        if chosen.partition(":")[0] in PROTOCOLS or base_url:
            raise
        return Summariser(missing=f"{error}; the summary is an extract without a model")
    return Summariser(_Telling(Client(endpoint), say), endpoint)


class _Telling:
    """A client that tells when it sends a request again."""

    def __init__(self, client: Client, say: Say) -> None:
        self._client = client
        self._say = say

    @property
    def name(self) -> str:
        """``protocol:model``."""
        return self._client.name

    async def acomplete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """The client's answer."""
        return await self._client.acomplete(request, on_text=on_text, on_retry=self._say)
