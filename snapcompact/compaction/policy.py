"""A policy: every rule of the engine as data, by name from ``presets.toml``.

A preset names only what differs from the dataclasses' defaults, which are the ``default`` policy.
"""

from __future__ import annotations

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TypeVar

from snapcompact.compaction.branch import BranchRules
from snapcompact.compaction.breaker import BreakerRules
from snapcompact.compaction.collapse import CollapseRules
from snapcompact.compaction.context import ContextRules
from snapcompact.compaction.counting import TokenRules
from snapcompact.compaction.cut import CutRules
from snapcompact.compaction.facts import FactRules
from snapcompact.compaction.files import FileRules
from snapcompact.compaction.frames import FrameRules
from snapcompact.compaction.guard import AcceptRules
from snapcompact.compaction.micro import MicroRules, ShakeRules
from snapcompact.compaction.modes.choose import ModeRules
from snapcompact.compaction.occupancy import UsageRules
from snapcompact.compaction.overflow import OverflowRules
from snapcompact.compaction.prepare import PrepareRules, RangeRules
from snapcompact.compaction.progressive import LevelRules
from snapcompact.compaction.prompt import PromptRules
from snapcompact.compaction.prune import PruneRules
from snapcompact.compaction.recovery import RecoveryRules
from snapcompact.compaction.request import SummaryRules
from snapcompact.compaction.restore import RestoreRules
from snapcompact.compaction.serialise import SerialRules
from snapcompact.compaction.shrink import ShrinkRules
from snapcompact.compaction.trigger import TriggerRules
from snapcompact.errors import UnknownNameError, UsageError


@dataclass(frozen=True, slots=True)
class Policy:
    """All rules, by subject."""

    name: str = "default"
    tokens: TokenRules = field(default_factory=TokenRules)
    planning_tokens: TokenRules = field(default_factory=TokenRules)
    """For splitting and pruning, where a system counts these otherwise."""
    usage: UsageRules = field(default_factory=UsageRules)
    context: ContextRules = field(default_factory=ContextRules)
    trigger: TriggerRules = field(default_factory=TriggerRules)
    cut: CutRules = field(default_factory=CutRules)
    range: RangeRules = field(default_factory=RangeRules)
    files: FileRules = field(default_factory=FileRules)
    serial: SerialRules = field(default_factory=SerialRules)
    prompt: PromptRules = field(default_factory=PromptRules)
    summary: SummaryRules = field(default_factory=SummaryRules)
    prune: PruneRules = field(default_factory=PruneRules)
    levels: LevelRules = field(default_factory=LevelRules)
    collapse: CollapseRules = field(default_factory=CollapseRules)
    micro: MicroRules = field(default_factory=MicroRules)
    shake: ShakeRules = field(default_factory=ShakeRules)
    shrink: ShrinkRules = field(default_factory=ShrinkRules)
    restore: RestoreRules = field(default_factory=RestoreRules)
    facts: FactRules = field(default_factory=FactRules)
    overflow: OverflowRules = field(default_factory=OverflowRules)
    overflow_second: OverflowRules = field(default_factory=OverflowRules)
    recovery: RecoveryRules = field(default_factory=RecoveryRules)
    accept: AcceptRules = field(default_factory=AcceptRules)
    breaker: BreakerRules = field(default_factory=BreakerRules)
    branch: BranchRules = field(default_factory=BranchRules)
    modes: ModeRules = field(default_factory=ModeRules)
    frames: FrameRules = field(default_factory=FrameRules)

    @property
    def prepare(self) -> PrepareRules:
        """The rules a preparation takes."""
        return PrepareRules(self.cut, self.range, self.usage, self.files, self.trigger.keep_tokens)


def _value(kind: object, value: object, where: str) -> object:
    """`value` from TOML as the type `kind` says. Raises UsageError."""
    origin = typing.get_origin(kind)
    args = typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        inner = next(arg for arg in args if arg is not types.NoneType)
        return _value(inner, value, where)
    if origin is tuple and isinstance(value, list):
        each = args[0]
        return tuple(_value(each, one, where) for one in value)
    if origin is Mapping and isinstance(value, dict):
        return {key: _value(args[1], one, f"{where}.{key}") for key, one in value.items()}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        return build(kind, value, where)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return value
    if (
        isinstance(kind, type)
        and isinstance(value, kind)
        and (kind is bool or not isinstance(value, bool))
    ):
        return value
    if kind is object:
        return value
    raise UsageError(f"{where}: {value!r} is not of type {getattr(kind, '__name__', kind)}")


_T = TypeVar("_T")


def build(kind: type[_T], table: Mapping[str, object], where: str) -> _T:
    """A `kind` with the values of `table` over its defaults; unknown keys are refused.

    Raises UsageError, which names the key and the keys there are.
    """
    hints = typing.get_type_hints(kind)
    known = {f.name for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    values: dict[str, object] = {}
    for key, value in table.items():
        if key not in known:
            raise UsageError(f"{where}: no setting {key!r}; there are: {', '.join(sorted(known))}")
        values[key] = _value(hints[key], value, f"{where}.{key}")
    return kind(**values)


@cache
def _tables() -> dict[str, dict[str, object]]:
    folder = resources.files("snapcompact.compaction")
    tables: dict[str, dict[str, object]] = tomllib.loads(
        (folder / "presets.toml").read_text(encoding="utf-8")
    )
    return tables


def preset_names() -> tuple[str, ...]:
    """The presets there are, in file order."""
    return tuple(_tables())


@cache
def preset(name: str = "default") -> Policy:
    """The policy of that name. Raises UnknownNameError."""
    if name not in _tables():
        raise UnknownNameError(f"no policy {name!r}; there are: {', '.join(preset_names())}")
    return build(Policy, {"name": name, **_tables()[name]}, name)
