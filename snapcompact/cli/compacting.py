"""What ``snapcompact compact`` does: plan, make, write, and say what became of the session."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snapcompact.cli.console import note, printable, say, say_json, warn
from snapcompact.cli.damage import report_damage
from snapcompact.cli.kernels import announce_compiling
from snapcompact.cli.terminable import terminable
from snapcompact.compaction.deciding import (
    Options,
    Prepared,
    prepared,
    reader_warning,
    with_mode,
)
from snapcompact.compaction.models import Summariser, summariser
from snapcompact.compaction.modes.command import Asked, parse_args
from snapcompact.compaction.plan import plan_lines
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.run import Result, apply, make, shrunk
from snapcompact.compaction.session import (
    archive_name,
    check_one,
    default_output,
    load_stored,
    whole_name,
)
from snapcompact.compaction.settings_files import load_settings
from snapcompact.compaction.undo import real_path
from snapcompact.errors import InputError, ModelError, OutputExistsError, UsageError
from snapcompact.history.session import open_session
from snapcompact.llm.client import run as run_async

if TYPE_CHECKING:
    from collections.abc import Callable

    from snapcompact.compaction.modes.job import Say
    from snapcompact.compaction.modes.snapcompact import Drawn
    from snapcompact.compaction.session import Written
    from snapcompact.compaction.settings import Settings


@dataclass(frozen=True, slots=True)
class Request:
    """The command's arguments."""

    session: Path
    words: str
    output: Path | None
    in_place: bool
    dry_run: bool
    model: str
    base_url: str
    key_env: str
    window: int
    keep: int
    keep_turns: int
    reference: bool
    two_step: bool
    strict: bool
    offline: bool
    settings: tuple[str, ...]
    format_name: str | None
    branch: str
    select: str = ""


def run_compact(request: Request, *, as_json: bool, quiet: bool) -> None:
    """Compact the session of `request` and print what was done."""
    asked = parse_args(request.words)
    _check(request)
    settings = load_settings(assignments=request.settings)
    with open_session(
        request.session, format=request.format_name, branch=request.branch, select=request.select
    ) as session:
        check_one(session, in_place=request.in_place)
        out = real_path(request.session) if request.in_place else request.output
        out = out or default_output(request.session, session.format.name)
        if not request.in_place and not request.dry_run and os.path.lexists(out):
            raise OutputExistsError(f"{out} already exists; give another name with -o")
        announce_compiling(quiet=quiet)
        stored = load_stored(session)
        report_damage(session.source.name, session.report, quiet=quiet)
        warnings: list[str] = []
        found = _summariser(request, settings, warnings.append)
        options = _options(request, asked, settings, out, found, warnings.append)
        ready = prepared(stored, options, settings)
        warnings += filter(None, [reader_warning(ready)])
        with terminable(), with_mode(ready, dry_run=request.dry_run) as (chosen, draw):
            if found.missing and chosen.plan.mode is not None and chosen.plan.mode.extract:
                warnings.append(found.missing)
            warnings += _cut_short(chosen)
            _warn(warnings, quiet)
            if request.dry_run:
                after = _forecast_after(chosen, draw, warnings.append)
                _warn(warnings, quiet)
                _print_plan(chosen, after, as_json)
                return
            if chosen.plan.outcome is not None:
                _print_nothing(chosen, as_json)
                return
            result = run_async(make(chosen, draw))
            _warn([*warnings, *result.made.notes], quiet)
            written = apply(chosen, result, out, in_place=request.in_place)
        _print_done(chosen, result, written, as_json)


def _check(request: Request) -> None:
    if str(request.session) == "-":
        raise UsageError("compact needs a file, not stdin")
    if request.in_place and request.output is not None:
        raise UsageError("--in-place and -o exclude each other")


def _summariser(request: Request, settings: Settings, say: Say) -> Summariser:
    return summariser(
        request.model, settings, base_url=request.base_url, key_env=request.key_env,
        offline=request.offline or settings.policy.modes.offline, say=say,
    )  # fmt: skip


def _options(
    request: Request, asked: Asked, settings: Settings, out: Path, found: Summariser, say: Say
) -> Options:
    return Options(
        mode=asked.mode,
        focus=asked.focus or "",
        reader=request.model,
        window=request.window,
        model=found.model,
        endpoint=found.endpoint,
        cut=CutRequest(
            keep_tokens=request.keep, keep_turns=request.keep_turns, force=not request.keep
        ),
        strict=request.strict,
        offline=request.offline or settings.policy.modes.offline,
        reference=request.reference,
        task_aware=request.two_step,
        archive=archive_name(out),
        in_place=request.in_place,
        say=say,
    )


def _warn(warnings: list[str], quiet: bool) -> None:
    for warning in warnings:
        warn(printable(warning), quiet=quiet)
    warnings.clear()


def _cut_short(ready: Prepared) -> list[str]:
    """A warning where kept messages do not stay whole."""
    cut = shrunk(ready)
    if not cut:
        return []
    held = whole_name(ready.job.stored, in_place=ready.options.in_place)
    return [
        f"{len(cut):,} of the kept messages did not fit the window and lost their middle; the "
        f"whole of {'it' if len(cut) == 1 else 'them'} is in {held}, entry {', '.join(cut)}"
    ]


def _plan_json(ready: Prepared) -> dict[str, Any]:
    plan, estimator = ready.plan, ready.estimator
    part = plan.partition
    made: dict[str, Any] = {
        "session": ready.job.stored.session.source.name,
        "format": ready.job.stored.session.format.name,
        "policy": plan.policy,
        "window": plan.window,
        "tokens_before": plan.tokens_before,
        "nothing": plan.outcome.detail if plan.outcome else None,
        "first_kept": plan.preparation.first_kept if plan.preparation else None,
        "summarised": [item.id for item in part.summarised],
        "pinned": [item.id for item in part.pinned],
        "kept": [item.id for item in part.kept],
        "shrunk": list(shrunk(ready)),
        "kept_tokens": plan.kept_tokens(estimator),
        "mode": plan.mode.mode if plan.mode else None,
        "extract": plan.mode.extract if plan.mode else False,
        "skipped": [asdict(skip) for skip in plan.mode.skipped] if plan.mode else [],
        "pages": asdict(plan.forecast) if plan.forecast else None,
        "usd": plan.usd,
    }
    return made


def _forecast_after(ready: Prepared, draw: Callable[[], Drawn], tell: Say) -> int | None:
    """Tokens after it, where no model has to be asked; None where one has, or nothing is done."""
    plan = ready.plan
    alone = plan.preparation is None or (
        plan.mode is not None and (plan.mode.extract or plan.mode.mode == "snapcompact")
    )
    if plan.outcome is not None or not alone:
        return None
    strict = replace(ready, rules=replace(ready.rules, strict=True))  # no model in its place
    try:
        return run_async(make(strict, draw)).tokens_after
    except (InputError, ModelError) as error:
        tell(str(error))
        return None


def _print_plan(ready: Prepared, after: int | None, as_json: bool) -> None:
    if as_json:
        say_json({**_plan_json(ready), "tokens_after": after})
        return
    lines = list(plan_lines(ready.plan, ready.estimator))
    if after is not None:
        lines.append(f"after: {after:,} tokens")
    if ready.plan.mode and not any(line.startswith("cost:") for line in lines):
        lines.append("cost: unknown")
    for line in lines:
        say(printable(line))


def _print_nothing(ready: Prepared, as_json: bool) -> None:
    if as_json:
        say_json({**_plan_json(ready), "output": None})
        return
    assert ready.plan.outcome is not None
    note(printable(ready.plan.outcome.detail))


def _print_done(ready: Prepared, result: Result, written: Written, as_json: bool) -> None:
    made, archive = result.made, ready.options.archive
    with_archive = made.archive is not None and archive is not None
    if as_json:
        say_json(
            {
                **_plan_json(ready),
                "mode": made.mode,
                "extract": made.extract,
                "tokens_after": result.tokens_after,
                "pages_shown": made.pages,
                "output": str(written.path),
                "archive": str(archive) if with_archive else None,
                "backup": str(written.backup) if written.backup else None,
            }
        )
        return
    part = ready.plan.partition
    how = "extract without a model" if made.extract else made.mode
    cut = len(result.change.edited)
    whole = len(result.change.shown) - cut
    say(
        f"{written.path}: {result.change.tokens_before:,} tokens are now {result.tokens_after:,} "
        f"({how}); {len(part.summarised):,} messages replaced, "
        f"{whole:,} kept word for word" + (f", {cut:,} kept but cut short" if cut else "")
    )
    if with_archive:
        say(f"{archive}: the replaced part, {made.pages:,} pages shown in the session")
    if written.backup:
        say(f"{written.backup}: the session as it was; `snapcompact undo` puts it back")
