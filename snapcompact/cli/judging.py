"""What ``snapcompact legibility`` does with its session."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from snapcompact.cli.console import printable, say, say_json, table, warn
from snapcompact.cli.damage import report_damage
from snapcompact.cli.kernels import announce_compiling
from snapcompact.errors import InputError
from snapcompact.history.session import open_session
from snapcompact.legibility.choice import candidate_shapes
from snapcompact.legibility.eye import Eye, eye_of
from snapcompact.legibility.judge import Judged, Judgement, judge
from snapcompact.pages.shape import parse_shape
from snapcompact.providers.catalog import Match, match, user_catalog
from snapcompact.transcript.fidelity import preparation
from snapcompact.transcript.write import write_transcript


@dataclass(frozen=True, slots=True)
class Request:
    """The command's arguments."""

    session: str
    model: str
    shapes: tuple[str, ...]
    downscale: str
    jpeg: int
    fidelity: str
    format_name: str | None
    branch: str
    strict: bool


def run_legibility(request: Request, *, as_json: bool, quiet: bool) -> None:
    """Judge the shapes of `request` for its session, and print them."""
    announce_compiling(quiet=quiet)
    found = match(user_catalog(), request.model)
    if found.warning:
        warn(found.warning, quiet=quiet)
    shapes = [*map(parse_shape, request.shapes)] or [*candidate_shapes(found.model)]
    with open_session(
        request.session if request.session == "-" else Path(request.session),
        format=request.format_name,
        branch=request.branch,
        strict=request.strict,
    ) as session:
        messages = preparation(request.fidelity, {})(session.messages())
        text = write_transcript(messages)
        result = judge(text, shapes, found.model, how=request.downscale, jpeg=request.jpeg)
        report_damage(session.source.name, session.report, quiet=quiet)
    if not result.transcript_bytes:
        raise InputError(f"{request.session}: no message in it, so there is nothing to read")
    eye = eye_of(found.model.name)
    if as_json:
        say_json(_as_dict(found, eye, result))
        return
    _print(found, eye, result)
    for one in result.shapes:
        if one.coverage.warning:
            warn(f"{one.score.shape}: {one.coverage.warning}", quiet=quiet)


def _print(found: Match, eye: Eye, result: Judgement) -> None:
    own = {parse_shape(name).name for name in found.model.shapes}
    head = ["", "shape", "pages", "tokens", "CER %", "95 % interval", "identifiers right %"]
    rows = [
        [
            ("*" if one.best else " ") + ("d" if one.score.shape in own else ""),
            one.score.shape,
            one.pages,
            one.high_tokens,
            _percent(one.score.cer.value),
            f"{_percent(one.score.cer.low)} to {_percent(one.score.cer.high)}",
            _percent(one.identifiers_right),
            _misread(one),
        ]
        for one in result.shapes
    ]
    for line in table([*head, "most misread"], rows):
        say(line)
    say()
    say("* no other shape is better in both tokens and errors; d one of the model's own")
    say(f"seen by the eye {eye.name!r}, {eye.basis}: {printable(eye.source)}")
    say(
        f"sample: {result.sample_bytes:,} of {result.transcript_bytes:,} bytes; CER without context"
    )
    default = parse_shape(found.model.shape).name
    likeliest = next((one for one in result.shapes if one.score.shape == default), result.shapes[0])
    if likeliest.risks:
        say()
        say(
            f"identifiers at risk on {likeliest.score.shape}: "
            f"{likeliest.identifiers_at_risk:,} of {result.identifiers:,}; the worst:"
        )
    for risk in likeliest.risks:
        shown = printable(risk.identifier.text.decode("utf-8", "replace"))
        say(f"{_percent(risk.chance):>6} %  {risk.identifier.kind:<8} {shown}")


def _misread(one: Judged) -> str:
    """The likeliest confusions, line ends shown as a reader of the report knows them."""
    return " ".join(
        f"{_shown(pair.truth)}→{_shown(pair.read)}" for pair in one.score.misreadings[:5]
    )


def _shown(character: str) -> str:
    return {" ": "␣", "\n": "⏎", "\t": "⇥"}.get(character, character)


def _percent(share: float) -> str:
    """Three digits that count, and no more decimals than four."""
    value = 100 * share
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.4f}"


def _as_dict(found: Match, eye: Eye, result: Judgement) -> dict[str, Any]:
    return {
        "model": found.id,
        "catalog_row": found.model.name,
        "eye": asdict(eye),
        "transcript_bytes": result.transcript_bytes,
        "sample_bytes": result.sample_bytes,
        "identifiers": result.identifiers,
        "shapes": [_judged_dict(one) for one in result.shapes],
    }


def _judged_dict(one: Judged) -> dict[str, Any]:
    rates = one.score.ascii_rates
    return {
        "shape": one.score.shape,
        "best": one.best,
        "pages": one.pages,
        "low_tokens": one.low_tokens,
        "high_tokens": one.high_tokens,
        "whole": one.whole,
        "seen_px": list(one.score.seen),
        "cer": asdict(one.score.cer),
        "escaped_share": one.coverage.share,
        "identifiers_right": one.identifiers_right,
        "identifiers_at_risk": one.identifiers_at_risk,
        "risks": [
            {
                "kind": risk.identifier.kind,
                "text": risk.identifier.text.decode("utf-8", "replace"),
                "offset": risk.identifier.offset,
                "chance": risk.chance,
            }
            for risk in one.risks
        ],
        "misreadings": [asdict(pair) for pair in one.score.misreadings],
        "misread_by_character": {chr(code): float(rates[code]) for code in range(33, 127)},
    }
