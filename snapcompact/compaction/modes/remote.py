"""A summary by a provider's own compaction, or by a server that summarises.

Where neither is there, modes/choose.py goes on to ``soft``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from snapcompact.compaction.files import file_lists, files_text
from snapcompact.compaction.guard import check_summary
from snapcompact.compaction.modes.job import Made
from snapcompact.compaction.outcome import Reason
from snapcompact.compaction.prompt import prompt_file, template_text
from snapcompact.compaction.provider_messages import anthropic_messages, tool_stubs
from snapcompact.compaction.request import Call, call_prompt
from snapcompact.compaction.writers.responses import SEALED
from snapcompact.errors import ModelError
from snapcompact.llm.contract import Endpoint, Failure

if TYPE_CHECKING:
    from snapcompact.compaction.modes.job import Job

NATIVE: Mapping[str, tuple[str, ...]] = {
    "anthropic": (),
    "openai": ("openai_responses",),
    "openai-responses": ("openai_responses",),
}
"""Protocols whose provider compacts by itself, and the session formats it serves; () is all."""


def has_native(endpoint: Endpoint | None, format_name: str) -> bool:
    """True where the provider compacts by itself, in a way the format can hold.

    Anthropic gives a summary in words; OpenAI gives sealed items, for lists of such items only.
    """
    if endpoint is None or endpoint.protocol not in NATIVE:
        return False
    return not NATIVE[endpoint.protocol] or format_name in NATIVE[endpoint.protocol]


async def run(job: Job) -> Made:
    """The summary of what `job` removes, made elsewhere.

    Raises ModelError where the server fails or its answer is no summary; a cancellation passes
    through.
    """
    if not job.remote_url and job.endpoint and job.endpoint.protocol != "anthropic":
        return await _sealed(job, job.endpoint)
    texts: list[str] = []
    for call in job.plan.calls:
        if call.kind is Call.SHORT:
            continue
        if job.remote_url:
            text = await _from_server(job, call_prompt(call, job.policy.prompt, job.policy.serial))
        else:
            text = await _native(job)
        texts.append(_checked(job, text))
        if not job.remote_url:
            break  # the provider takes all messages at once
    preparation = job.plan.preparation
    assert preparation is not None
    lists = file_lists(preparation.ops, job.policy.files)
    text = job.policy.summary.separator.join(texts) + files_text(lists, job.policy.files)
    return Made("remote", text, files=lists)


async def _from_server(job: Job, prompt: str) -> str:
    from snapcompact.llm.summary_server import summarise

    key = job.endpoint.key if job.endpoint else ""
    model = job.endpoint.model if job.endpoint else ""
    return await summarise(job.remote_url, prompt_file("system"), prompt, key=key, model=model)


async def _native(job: Job) -> str:
    from snapcompact.llm.anthropic import compact

    assert job.endpoint is not None
    preparation = job.plan.preparation
    assert preparation is not None
    summarised = [item.message for item in preparation.partition.summarised]
    messages = anthropic_messages(summarised, preparation.previous_summary or "")
    instructions = template_text(job.policy.prompt.template)
    if job.focus:
        instructions += "\n\n" + prompt_file("focus").format_map({"focus": job.focus})
    block = await compact(
        job.endpoint, messages, tool_stubs(summarised), system="", instructions=instructions,
        max_tokens=max(call.max_tokens for call in job.plan.calls),
    )  # fmt: skip
    return str(block.get("content") or "")


async def _sealed(job: Job, endpoint: Endpoint) -> Made:
    """OpenAI's items in place of those that are removed, an earlier sealed one among them."""
    from snapcompact.llm.openai import compact

    part = job.plan.partition
    gone = {item.id for item in (*part.summarised, *([part.previous] if part.previous else []))}
    order = [entry.id for entry in job.stored.entries if entry.id in gone]
    items = [record for entry_id in order for record in job.stored.records[entry_id]]
    made = await compact(endpoint, items, job.focus)
    if not any(item.get("type") in SEALED for item in made):
        raise ModelError(f"{endpoint.name} gave no compaction item", kind=Failure.GARBAGE)
    return Made("remote", "", native=tuple(made))


def _checked(job: Job, text: str) -> str:
    reason = check_summary(text, job.policy.accept)
    if reason is not Reason.DONE:
        name = job.remote_url or (job.endpoint.name if job.endpoint else "the server")
        raise ModelError(f"{name} gave no summary ({reason.value})", kind=Failure.GARBAGE)
    return text
