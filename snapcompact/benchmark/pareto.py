"""The Pareto front: readings that no other beats in both characters a token and errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Json = dict[str, Any]


def mark_front(data: Json) -> None:
    """Add ``fronts`` to the benchmark's `data`: for each model and reader the shapes on its front.

    More characters a token and a lower CER are better; equals are both on it.
    """
    data["fronts"] = [
        {"model": model, "reader": reader, "shapes": front(points(data, model, reader))}
        for model in _names(m["model"] for s in data["shapes"] for m in s["models"])
        for reader in _names(r["reader"] for r in data["readings"])
    ]


def points(data: Json, model: str, reader: str) -> list[tuple[str, float, float]]:
    """(shape, characters per token, CER) of each shape that `reader` read and `model` prices."""
    cer = {r["shape"]: r["cer"]["value"] for r in data["readings"] if r["reader"] == reader}
    return [
        (shape["shape"], priced["characters_per_token"], cer[shape["shape"]])
        for shape in data["shapes"]
        for priced in shape["models"]
        if priced["model"] == model
        and priced["characters_per_token"] is not None
        and shape["shape"] in cer
    ]


def front(found: Sequence[tuple[str, float, float]]) -> list[str]:
    """Names of the (name, more is better, less is better) that none beats in both."""
    return [
        name
        for name, gain, loss in found
        if not any(g >= gain and c <= loss and (g > gain or c < loss) for _, g, c in found)
    ]


def _names(found: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(found))
