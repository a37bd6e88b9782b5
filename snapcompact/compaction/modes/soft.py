"""A summary by a model, or without any by a deterministic extract."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from snapcompact.compaction.files import file_lists, files_text
from snapcompact.compaction.guard import check_summary
from snapcompact.compaction.modes.extract import extract, open_todos
from snapcompact.compaction.modes.job import Made
from snapcompact.compaction.outcome import Reason
from snapcompact.compaction.pairs import reach
from snapcompact.compaction.prompt import PromptParts, PromptRules, build_prompt, prompt_file
from snapcompact.compaction.request import (
    Call,
    SummaryCall,
    call_prompt,
    finish,
    input_windows,
    template_for,
)
from snapcompact.compaction.serialise import serialise
from snapcompact.errors import ModelError
from snapcompact.history.model import Message, Role
from snapcompact.llm.contract import Completion, Failure, Request, Stop, user

if TYPE_CHECKING:
    from snapcompact.compaction.modes.job import Job, Say
    from snapcompact.history.model import Usage

_TASK_USERS = 5
_TASK_TOKENS = 512
_BAD_STOPS = {Stop.REFUSAL: "refused to summarise", Stop.TOOL: "called a tool instead"}


async def run(job: Job) -> Made:
    """The summary of what `job` removes; a previous one is always part of it.

    Raises ModelError where the model fails or its answer is no summary; a cancellation passes
    through.
    """
    if job.model is None:
        return _extracted(job)
    task, usage = await _task(job)
    calls = job.plan.calls
    todos = "\n".join(open_todos(_messages(job)))
    made = [_Call(job, call, todos, task) for call in calls if call.kind is not Call.SHORT]
    if job.policy.summary.parallel:
        answers = await _together(made)
    else:
        answers = [await one.answer() for one in made]
    texts = dict(zip((one.call.kind for one in made), answers, strict=True))
    for call in calls:
        if call.kind is Call.SHORT:
            short = _Call(job, call, "", "")
            texts[Call.SHORT] = await short.of_text("\n\n".join(answers))
            made.append(short)
    assert job.plan.preparation is not None
    ordered = [texts[call.kind] for call in calls]
    done = finish(job.plan.preparation, calls, ordered, job.policy.summary, job.policy.files)
    notes = tuple(note for one in made for note in one.notes)
    spent = (*usage, *(u for one in made for u in one.usage))
    return Made("soft", done.text, short=done.short, files=done.files, usage=spent, notes=notes)


async def run_handoff(job: Job) -> Made:
    """As :func:`run`, in the sections of a handoff."""
    prompt = replace(job.policy.prompt, template="handoff")
    made = await run(replace(job, policy=replace(job.policy, prompt=prompt)))
    return replace(made, mode="handoff")


def _messages(job: Job) -> list[Message]:
    return [item.message for item in job.plan.partition.summarised]


def _extracted(job: Job) -> Made:
    """The same sections from the records; file lists as a model's summary has them."""
    preparation = job.plan.preparation
    assert preparation is not None
    text = extract(
        _messages(job), previous=preparation.previous_summary or "", focus=job.focus,
        files=job.policy.files,
    )  # fmt: skip
    lists = file_lists(preparation.ops, job.policy.files)
    text += files_text(lists, job.policy.files)
    return Made("soft", text, files=lists, extract=True)


async def _together(calls: Sequence[_Call]) -> list[str]:
    """All answers; the others are cancelled where one fails.

    Their words are told one answer after the other: those of the later ones wait.
    """
    for call, following in pairwise(calls):
        call.words.goes_before(following.words)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call.answer()) for call in calls]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


class _Words:
    """Tells an answer's words as they come, or holds them until the answer before it has ended."""

    def __init__(self, tell: Say) -> None:
        self._tell = tell
        self._held: list[str] | None = None
        self._following: _Words | None = None
        self._ended = False

    def goes_before(self, following: _Words) -> None:
        """Those of `following` wait for these."""
        self._following = following
        following._held = []

    def add(self, text: str) -> None:
        """The next words."""
        if self._held is None:
            self._tell(text)
        else:
            self._held.append(text)

    def end(self) -> None:
        """No more words come."""
        self._ended = True
        if self._held is None and self._following is not None:
            self._following._begin()

    def _begin(self) -> None:
        held, self._held = self._held or [], None
        for text in held:
            self._tell(text)
        if self._ended:
            self.end()


async def _task(job: Job) -> tuple[str, tuple[Usage, ...]]:
    """What the task is, by a first call on the user's newest words; a failure is passed over."""
    if not job.task_aware or job.model is None:
        return "", ()
    said = [m for m in _messages(job) if m.role is Role.USER and m.text.strip()][-_TASK_USERS:]
    rules = PromptRules(template="task", order=("conversation", "instructions"))
    prompt = build_prompt(PromptParts(serialise(said, job.policy.serial)), rules)
    request = Request((user(prompt),), prompt_file("system"), _TASK_TOKENS)
    try:
        answer = await job.model.acomplete(request)
    except ModelError as error:
        job.say(f"the task could not be asked for ({error}); summarising without it")
        return "", ()
    return answer.text, (answer.usage,) if answer.usage else ()


class _Call:
    """One call, in as many windows as the summarising model needs."""

    def __init__(self, job: Job, call: SummaryCall, todos: str, task: str) -> None:
        self.call = call
        self.usage: list[Usage] = []
        self.notes: list[str] = []
        self.words = _Words(job.on_text)
        self._job, self._todos, self._task = job, todos, task

    async def answer(self) -> str:
        """The summary of the call's messages: each window's answer is the next one's past."""
        windows = self._windows()
        previous = self.call.previous
        for start, end in windows:
            part = replace(self.call, items=self.call.items[start:end], previous=previous)
            template = template_for(self._job.summary_window, self._job.policy.prompt.template)
            rules = replace(self._job.policy.prompt, template=template)
            prompt = call_prompt(
                part, rules, self._job.policy.serial, state=self._todos, task=self._task
            )  # fmt: skip
            previous = await self._ask(prompt)
        self.words.end()
        if len(windows) > 1:
            self.notes.append(f"summarised in {len(windows)} windows")
        return previous

    async def of_text(self, text: str) -> str:
        """The short summary of a summary."""
        rules = replace(self._job.policy.prompt, template="short", instructions="")
        return await self._ask(build_prompt(PromptParts(text), rules))

    def _windows(self) -> tuple[tuple[int, int], ...]:
        rules = self._job.policy.summary
        window = self._job.summary_window or rules.window
        limit = int(window * rules.input_share) - self.call.max_tokens
        counts = [self._job.estimator(message) for message in self.call.messages]
        if not counts or sum(counts) <= limit:
            return ((0, len(counts)),)
        needs = reach(self.call.messages)
        borders = [index for index, need in enumerate(needs) if need >= index]
        return input_windows(counts, max(1, limit), borders)

    async def _ask(self, prompt: str) -> str:
        job = self._job
        assert job.model is not None
        effort = "high" if self.call.reasoning else ""
        request = Request(
            (user(prompt),), prompt_file("system"), self.call.max_tokens, reasoning=effort
        )
        answer = await job.model.acomplete(request, on_text=self.words.add)
        self.usage += [answer.usage] if answer.usage else []
        if answer.attempts > 1:
            self.notes.append(f"the model was asked {answer.attempts} times")
        return self._checked(answer)

    def _checked(self, answer: Completion) -> str:
        name = self._job.model.name if self._job.model else ""
        if answer.stop in _BAD_STOPS:
            raise _no_summary(name, _BAD_STOPS[answer.stop])
        reason = check_summary(answer.text, self._job.policy.accept)
        if reason is not Reason.DONE:
            raise _no_summary(name, f"gave no summary ({reason.value})")
        if answer.stop is Stop.LENGTH:
            self._job.say(_cut_off(name, answer, self.call.max_tokens))
        return answer.text


def _cut_off(name: str, answer: Completion, limit: int) -> str:
    """A warning that a summary has no end, with the tokens it has where the server says them."""
    made = answer.usage.output if answer.usage else 0
    after = f"after {made:,} tokens" if made else "at its longest"
    return f"{name}: the summary was cut off {after} ({limit:,} were allowed); its end is missing"


def _no_summary(name: str, what: str) -> ModelError:
    return ModelError(f"{name} {what}; nothing was written", kind=Failure.GARBAGE)
