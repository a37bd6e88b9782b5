"""The benchmark's JSON as Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

Json = dict[str, Any]


def percent(value: float | None, digits: int = 2) -> str:
    """A share as percent; a dash for none."""
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def spread(found: Json, digits: int = 2) -> str:
    """A rate with its interval, as percent."""
    low, high = 100 * found["low"], 100 * found["high"]
    return f"{percent(found['value'], digits)} ({low:.{digits}f}–{high:.{digits}f})"


def markdown(data: Json) -> str:
    """The figures as Markdown tables."""
    return "\n".join(_lines(data)) + "\n"


def tables(data: Json) -> list[tuple[str, list[str], list[list[str]]]]:
    """The report's tables: title, head, rows."""
    return [
        ("Shapes", *_shape_table(data)),
        ("Tokens", *_token_table(data)),
        ("Readers", *_reader_table(data)),
        ("Exact words by kind", *_exact_table(data)),
        ("Errors by who speaks and by kind of text", *_scope_table(data)),
        ("Commonest confusions", *_confusion_table(data)),
        ("Pareto fronts: characters a token against errors", *_front_table(data)),
        *([("Probes and verdict", *_probe_table(data))] if data["probes"] else []),
    ]


def headline(data: Json) -> str:
    """Where, when and on what it was measured, in one line."""
    box = data["machine"]
    names = ", ".join(session["name"] for session in data["sessions"])
    return (
        f"{names}; {data['sample']} pages a shape and reader, seed {data['seed']}; snapcompact "
        f"{data['tool']}, {data['made']}, {box['system']} {box['processor']}, {box['cores']} cores "
        f"(load {box['load']}), Python {box['python']}. Intervals: 95 %, bootstrap over pages."
    )


def _lines(data: Json) -> Iterator[str]:
    yield "# Ratio benchmark"
    yield ""
    yield headline(data)
    for title, head, rows in tables(data):
        yield ""
        yield f"## {title}"
        yield ""
        yield _row(head)
        yield _row(["---"] * len(head))
        yield from map(_row, rows)


def _row(cells: Sequence[str]) -> str:
    inner = " | ".join(cell.replace("|", "\\|").replace("\n", "⏎") for cell in cells)
    return f"| {inner} |"


def _shape_table(data: Json) -> tuple[list[str], list[list[str]]]:
    head = ["shape", "pages", "characters a page", "PNG bytes a character", "MB/s to PNG"]
    return head, [
        [
            s["shape"],
            f"{s['pages']:,}",
            f"{s['characters_per_page']:,.0f}",
            f"{s['png_bytes_per_character']:.3f}",
            f"{s['print_mb_per_second']:.1f}",
        ]
        for s in data["shapes"]
    ]


def _token_table(data: Json) -> tuple[list[str], list[list[str]]]:
    head = ["shape", "model", "page tokens", "characters a token", "times fewer than text",
            "every pixel arrives", "CER foreseen"]  # fmt: skip
    rows = []
    for shape in data["shapes"]:
        for m in shape["models"]:
            tokens = f"{m['low_tokens']:,}–{m['high_tokens']:,}"
            rows.append([
                shape["shape"], m["model"], tokens if m["high_tokens"] else "takes no images",
                _number(m["characters_per_token"]), _number(m["times_fewer_tokens"]),
                "yes" if m["pixels_arrive"] else "no",
                spread(m["predicted_cer"]) if m["predicted_cer"] else "–",
            ])  # fmt: skip
    return head, rows


def _reader_table(data: Json) -> tuple[list[str], list[list[str]]]:
    head = ["shape", "reader", "CER", "WER", "exact words", "invented", "rows perfect",
            "rows lost, added, moved", "s a page"]  # fmt: skip
    return head, [
        [
            r["shape"],
            r["reader"],
            spread(r["cer"]),
            spread(r["wer"]),
            spread(r["exact_recall"], 1),
            spread(r["exact_invented"], 1),
            spread(r["rows_perfect"], 1),
            f"{r['rows']['missing']}, {r['rows']['extra']}, {r['rows']['moved']}",
            f"{r['seconds_per_page']:.2f}",
        ]
        for r in data["readings"]
    ]


def _exact_table(data: Json) -> tuple[list[str], list[list[str]]]:
    head = ["shape", "reader", "kind", "words", "right", "gaps", "invented", "recall"]
    rows = []
    for r in data["readings"]:
        for kind, e in r["exact"].items():
            counts = [str(e[key]) for key in ("right", "gaps", "invented")]
            total = e["right"] + e["gaps"] + e["invented"]
            row = [r["shape"], r["reader"], kind, str(total), *counts, percent(e["recall"], 1)]
            rows.append(row)
    return head, rows


def _scope_table(data: Json) -> tuple[list[str], list[list[str]]]:
    head = ["shape", "reader", "part", "characters", "CER"]
    rows = []
    for r in data["readings"]:
        for title in ("by_role", "by_kind"):
            for name, t in r[title].items():
                part = f"{title.removeprefix('by_')} {name}"
                cells = [r["shape"], r["reader"], part, f"{t['characters']:,}", percent(t["cer"])]
                rows.append(cells)
    return head, rows


def _confusion_table(data: Json) -> tuple[list[str], list[list[str]]]:
    head = ["shape", "reader", "printed → read (times)"]
    return head, [
        [r["shape"], r["reader"], ", ".join(map(_confusion, r["confusions"][:16])) or "none"]
        for r in data["readings"]
    ]


def _confusion(found: Json) -> str:
    printed, read = (_visible(found[key]) for key in ("printed", "read"))
    return f"{printed} → {read} ({found['times']})"


def _visible(character: str) -> str:
    if not character:
        return "nothing"
    return "blank" if character == " " else character


def _front_table(data: Json) -> tuple[list[str], list[list[str]]]:
    head = ["model", "reader", "shapes that none beats in both"]
    return head, [[f["model"], f["reader"], ", ".join(f["shapes"]) or "–"] for f in data["fronts"]]


def _probe_table(data: Json) -> tuple[list[str], list[list[str]]]:
    head = ["shape", "reader", "over", "correct", "abstained", "silently wrong", "near misses",
            "may be the default"]  # fmt: skip
    rows = []
    for p in data["probes"]:
        verdict = p["verdict"]
        said = "yes" if verdict["may_be_default"] else "no: " + "; ".join(verdict["reasons"])
        for over in ("pages", "text"):
            kinds = p[over]["by_kind"].values()
            counts = [
                str(sum(kind.get(outcome, 0) for kind in kinds))
                for outcome in ("correct", "abstained", "silently wrong")
            ]
            taken = str(p[over]["near_misses_taken"])
            last = said if over == "pages" else ""
            rows.append([p["shape"], p["reader"], over, *counts, taken, last])
    return head, rows


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def to_csv(data: Json) -> str:
    """One row a shape, reader and model, for spreadsheets."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    rates = ("cer", "wer", "exact_recall", "exact_invented", "rows_perfect")
    head = [f"{rate}{end}" for rate in rates for end in ("", "_low", "_high")]
    writer.writerow([
        "shape", "reader", "model", "pages", "characters_per_page", "png_bytes_per_character",
        "print_mb_per_second", "low_tokens", "high_tokens", "characters_per_token",
        "times_fewer_tokens", "seconds_per_page", *head,
    ])  # fmt: skip
    shapes = {shape["shape"]: shape for shape in data["shapes"]}
    for r in data["readings"]:
        shape = shapes[r["shape"]]
        found = [r[rate][end] for rate in rates for end in ("value", "low", "high")]
        for m in shape["models"] or [{}]:
            writer.writerow([
                r["shape"], r["reader"], m.get("model", ""), shape["pages"],
                shape["characters_per_page"], shape["png_bytes_per_character"],
                shape["print_mb_per_second"], m.get("low_tokens"), m.get("high_tokens"),
                m.get("characters_per_token"), m.get("times_fewer_tokens"),
                r["seconds_per_page"], *found,
            ])  # fmt: skip
    return out.getvalue()
