"""What ``snapcompact estimate`` does with its sessions: one report each."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from snapcompact.cli.console import note, printable, say, say_json, size, table, warn
from snapcompact.cli.damage import report_damage
from snapcompact.cli.estimate import DEFAULT_MODEL
from snapcompact.cli.kernels import announce_compiling
from snapcompact.history.session import open_session
from snapcompact.payload.census import Tally
from snapcompact.payload.estimate import Estimate, ModelEstimate, estimate
from snapcompact.payload.worth import NO_IMAGES, Worth
from snapcompact.providers.catalog import UNKNOWN, Match, match, user_catalog
from snapcompact.tokens.table import families
from snapcompact.transcript.fidelity import preparation


@dataclass(frozen=True, slots=True)
class Request:
    """The command's arguments."""

    sessions: tuple[str, ...]
    models: tuple[str, ...]
    all_models: bool
    shapes: tuple[str, ...]
    fallback: tuple[str, ...]
    fidelity: str
    format_name: str | None
    branch: str
    strict: bool


def run_estimate(request: Request, *, form: str, quiet: bool) -> None:
    """Estimate every session of `request` and print it as table, json or csv."""
    announce_compiling(quiet=quiet)
    models = _models(request)
    for found in models:
        if found.warning:
            warn(found.warning, quiet=quiet)
    results: list[tuple[str, Estimate]] = []
    for name in request.sessions:
        with open_session(
            name if name == "-" else Path(name),
            format=request.format_name,
            branch=request.branch,
            strict=request.strict,
        ) as session:
            prepare = preparation(request.fidelity, {})
            result = estimate(prepare(session.messages()), models, request.shapes, request.fallback)
            results.append((name, result))
            _say_choices(name, result, quiet=quiet)
            report_damage(session.source.name, session.report, quiet=quiet)
    _FORMS[form](results)


def _say_choices(name: str, result: Estimate, *, quiet: bool) -> None:
    reasons = (model.choice.reason for model in result.models if model.choice)
    for reason in dict.fromkeys(reasons) if not quiet else ():
        note(f"{printable(name)}: {reason}")


def _models(request: Request) -> tuple[Match, ...]:
    catalog = user_catalog()
    if not request.all_models:
        return tuple(match(catalog, name) for name in request.models or (DEFAULT_MODEL,))
    counted = families()
    rows = [row for row in catalog.models if row.name != UNKNOWN and row.tokenizer in counted]
    return tuple(match(catalog, row.name) for row in rows)


def _print_tables(results: list[tuple[str, Estimate]]) -> None:
    for name, result in results:
        census = result.census
        say(
            f"{printable(name)}: {census.total.items:,} messages, {census.total.tokens:,} tokens "
            f"({result.models[0].match.model.tokenizer}), transcript "
            f"{size(result.transcript_bytes)}"
        )
        _print_context(result)
        for title, rows in (
            ("role", census.roles),
            ("kind", census.kinds),
            ("tool", census.tools),
        ):
            _print_tallies(title, rows)
        _print_largest(result)
        if census.duplicates.items:
            say(
                f"said twice: {census.duplicates.items:,} parts, "
                f"{census.duplicates.tokens:,} tokens"
            )
        if census.refused_images:
            say(f"images the model does not take: {census.refused_images:,} of {census.images:,}")
        say()
        _print_shapes(result)


def _print_context(result: Estimate) -> None:
    context = result.census.context
    if context.answer is None:
        say(f"context now: {context.estimated:,} tokens, all estimated (no usage recorded for it)")
        return
    corrected = f", corrected × {context.factor:.2f}" if context.factor != 1 else ""
    model = printable(context.model) or "its model"
    say(
        f"context now: {context.total:,} tokens as {model} counts, "
        f"{context.share_measured:.1%} measured (usage of message {context.answer:,}), "
        f"{context.estimated:,} estimated{corrected}"
    )


def _print_tallies(title: str, rows: Mapping[str, Tally]) -> None:
    if rows:
        say()
        body = [[name, t.items, round(t.tokens), size(t.bytes)] for name, t in rows.items()]
        for line in table([title, "items", "tokens", "text"], body):
            say(line)


def _print_largest(result: Estimate) -> None:
    say()
    rows = [[m.message, m.role, m.what, m.line, m.tokens] for m in result.census.largest]
    for line in table(["largest message", "role", "mostly", "line", "tokens"], rows):
        say(line)
    say()


def _print_shapes(result: Estimate) -> None:
    rows = [
        [
            model.match.id,
            worth.shape,
            worth.pages,
            model.text_tokens,
            worth.high_tokens,
            worth.chars_per_token,
            worth.factor,
            size(worth.png_bytes),
            _verdict(worth),
        ]
        for model in result.models
        for worth in model.shapes
    ]
    head = ["model", "shape", "pages", "as text", "as pages", "chars/token", "factor", "PNG"]
    for line in table([*head, "verdict"], rows):
        say(line)
    for name in [model.match.id for model in result.models if not model.shapes]:
        say(f"{printable(name)}: takes no images")


def _verdict(worth: Worth) -> str:
    if worth.break_even_chars is not None:
        said = f"{worth.verdict} from {worth.break_even_chars:,} characters on"
        if worth.verdict != "pays":
            said = f"{worth.verdict}; pays from {worth.break_even_chars:,} characters on"
    else:
        said = worth.verdict
    downscaled = [] if worth.whole else ["seen smaller than sent"]
    return "; ".join([said, *downscaled, *worth.faults])


def _print_json(results: list[tuple[str, Estimate]]) -> None:
    values = [{"session": name, **_as_dict(result)} for name, result in results]
    say_json(values[0] if len(values) == 1 else values)


def _as_dict(result: Estimate) -> dict[str, Any]:
    return {
        "transcript_bytes": result.transcript_bytes,
        "characters": result.characters,
        **asdict(result.census),
        "context": _context_dict(result),
        "models": [_model_dict(model) for model in result.models],
    }


def _context_dict(result: Estimate) -> dict[str, Any]:
    context = result.census.context
    return {
        "tokens": context.total,
        "share_measured": round(context.share_measured, 4),
        **asdict(context),
    }


def _model_dict(model: ModelEstimate) -> dict[str, Any]:
    return {
        "id": model.match.id,
        "model": model.match.model.name,
        "known": model.match.known,
        "tokenizer": model.match.model.tokenizer,
        "text_tokens": model.text_tokens,
        "shapes": [asdict(worth) for worth in model.shapes],
    }


def _print_csv(results: list[tuple[str, Estimate]]) -> None:
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for name, result in results:
        context = result.census.context
        for model in result.models:
            for worth in model.shapes or (None,):
                writer.writerow(
                    {
                        "session": name,
                        "model": model.match.id,
                        "text_tokens": model.text_tokens,
                        **(asdict(worth) if worth else {"verdict": NO_IMAGES}),
                        "faults": "; ".join(worth.faults) if worth else "",
                        "context_tokens": context.total,
                        "context_measured": context.measured,
                        "context_factor": round(context.factor, 4),
                    }
                )
    for line in out.getvalue().splitlines():
        say(line)


_COLUMNS = (
    *("session", "model", "text_tokens"),
    *(field.name for field in fields(Worth)),
    *("context_tokens", "context_measured", "context_factor"),
)
"""Columns of the comma-separated form, one row a shape; a model without images has one row."""

_FORMS: Mapping[str, Callable[[list[tuple[str, Estimate]]], None]] = MappingProxyType(
    {"csv": _print_csv, "json": _print_json, "table": _print_tables}
)
