"""Settings from TOML texts: each value and where it comes from. Pure; files are read by the caller.

A setting is ``section.field`` of a policy. The seed systems' names are taken as aliases, flat or in
their own ``[compaction]`` table. Later sources win: preset, user file, project file, command line.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from snapcompact.compaction.modes.command import STRATEGIES, resolve_order
from snapcompact.compaction.policy import Policy, build, preset
from snapcompact.errors import UsageError

ALIASES: Mapping[str, str] = {
    "autocompact": "trigger.enabled",
    "autoCompact": "trigger.enabled",
    "auto-compact": "trigger.enabled",
    "enabled": "trigger.enabled",
    "reserveTokens": "trigger.reserve_tokens",
    "reserve_tokens": "trigger.reserve_tokens",
    "keepRecentTokens": "trigger.keep_tokens",
    "keep_recent_tokens": "trigger.keep_tokens",
    "thresholdTokens": "trigger.threshold_tokens",
    "thresholdPercent": "trigger.threshold_percent",
    "thresholdRatio": "trigger.threshold_ratio",
    "maxTokens": "trigger.max_tokens",
    "speculativeStartRatio": "trigger.speculative_start_ratio",
    "strategy": "modes.order",
    "methodOrder": "modes.order",
    "method_order": "modes.order",
    "offline": "modes.offline",
    "strict": "modes.strict",
    "autoContinue": "accept.auto_continue",
    "supersedeReads": "prune.supersede",
    "dropUseless": "prune.useless",
    "contextCollapse": "collapse.enabled",
    "microCompact": "micro.enabled",
    "maxConsecutiveFailures": "breaker.max_failures",
    "cooldownMs": "breaker.cooldown_ms",
    "protectRecentTokens": "prune.protect_tokens",
    "minSavingsTokens": "prune.min_savings",
    "summaryPrompt": "prompt.instructions",
    "template": "prompt.template",
    "branchSummary.enabled": "branch.enabled",
    "branchSummary.reserveTokens": "branch.reserve_tokens",
    "handoffSaveToDisk": "apply.handoff_save",
    "remoteEndpoint": "apply.remote_endpoint",
    "remoteEnabled": "apply.remote_enabled",
    "compactionModel": "apply.summary_model",
    "contextLimit": "apply.window",
    "window": "apply.window",
    "midTurnEnabled": "apply.mid_turn",
    "idleEnabled": "apply.idle_enabled",
    "idleThresholdTokens": "apply.idle_threshold_tokens",
    "idleTimeoutSeconds": "apply.idle_timeout_seconds",
}
"""Names the seed systems use, and ours."""

APPLY: Mapping[str, object] = {
    "policy": "default",
    "apply.handoff_save": False,
    "apply.remote_endpoint": "",
    "apply.remote_enabled": True,
    "apply.summary_model": "",
    "apply.mid_turn": True,
    "apply.idle_enabled": False,
    "apply.idle_threshold_tokens": 200000,
    "apply.idle_timeout_seconds": 300,
    "apply.window": 0,
}
"""Settings that no policy rule reads, with their defaults."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text of settings and the name it is shown under."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and the source that set it."""

    value: object
    source: str


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, resolved."""

    policy: Policy
    values: Mapping[str, Setting]
    """By ``section.field``, sorted."""

    def value(self, name: str) -> object:
        """The value of setting `name`, an alias or our own name. Raises UsageError."""
        known = ALIASES.get(name, name)
        if known not in self.values:
            raise UsageError(f"no setting {name!r}")
        return self.values[known].value


_ENVIRONMENT: Mapping[str, Callable[[str], str]] = {
    "DISABLE_AUTO_COMPACT": lambda value: f"enabled = {str(value in ('', '0', 'false')).lower()}",
    "CONTEXT_LIMIT_OVERRIDE": lambda value: f"contextLimit = {int(value)}",
}


def environment_source(environment: Mapping[str, str]) -> Source:
    """The settings a seed system reads from its environment. Raises UsageError for no number."""
    lines = []
    for name, line in _ENVIRONMENT.items():
        if name in environment:
            try:
                lines.append(line(environment[name].strip().lower()))
            except ValueError as exc:
                raise UsageError(f"{name}={environment[name]!r} is no number of tokens") from exc
    return Source("environment", "\n".join(lines))


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Dotted names and values; ``[compaction]`` and ``[snapcompact]`` add nothing to a name."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if not isinstance(value, dict) or name in _fields():
            yield name, value
        else:
            yield from _flat(value, "" if name in ("compaction", "snapcompact") else f"{name}.")


@cache
def _fields() -> frozenset[str]:
    return frozenset(_defaults(preset()))


_SECTIONS = frozenset(field.name for field in dataclasses.fields(Policy)) - {"name"} | {"apply"}


def _strategy(value: object, where: str) -> list[str]:
    if isinstance(value, str):
        if value not in STRATEGIES:
            known = ", ".join(sorted(STRATEGIES))
            raise UsageError(f"{where}: no strategy {value!r}; there are: {known}")
        return list(STRATEGIES[value])
    return list(resolve_order(value))


def _normal(name: str, value: object, where: str) -> Iterator[tuple[str, object]]:
    """A setting by our name, its value as our field takes it."""
    known = ALIASES.get(name, name)
    if known == "modes.order":
        yield known, _strategy(value, where)
        if value == "off":
            yield "trigger.enabled", False
    elif known == "trigger.reserve_tokens" and isinstance(value, int) and value < 0:
        return  # some systems write -1 for unset, which is our default
    else:
        yield known, value


def _read(source: Source) -> dict[str, object]:
    """Settings of one source by our names. Raises UsageError."""
    try:
        table = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as exc:
        raise UsageError(f"{source.name} is no TOML: {exc}") from exc
    found: dict[str, object] = {}
    for name, value in _flat(table):
        found.update(_normal(name, value, f"{source.name}: {name}"))
    return found


_MOST = 10**12
"""No setting counts more, be it tokens, bytes or milliseconds."""


def _defaults(policy: Policy) -> dict[str, object]:
    values: dict[str, object] = {}
    for section in dataclasses.fields(policy):
        rules = getattr(policy, section.name)
        if dataclasses.is_dataclass(rules):
            for field in dataclasses.fields(rules):
                values[f"{section.name}.{field.name}"] = getattr(rules, field.name)
    return values


def _check_number(value: object, least: float, name: str, where: str) -> None:
    """Refuse a number that no setting can mean; `least` is the default's, where it is below 0.

    Raises UsageError.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    most = 1 if name.endswith("_share") else _MOST
    least = min(0, least)
    if not least <= value <= most:
        raise UsageError(f"{where}: {name} = {value} is not between {least} and {most}")


def _least(value: object) -> float:
    return value if isinstance(value, int | float) else 0


def _with(policy: Policy, changes: Mapping[str, object], where: Mapping[str, str]) -> Policy:
    """`policy` with `changes`, each checked against its field's type. Raises UsageError."""
    sections: dict[str, dict[str, object]] = {}
    for name, value in changes.items():
        section, _, field = name.partition(".")
        if section in APPLY or name in APPLY:
            continue
        if section not in _SECTIONS or not field:
            known = ", ".join(sorted(_SECTIONS))
            raise UsageError(f"{where[name]}: no setting {name!r}; sections are: {known}")
        sections.setdefault(section, {})[field] = value
    made = policy
    for section, table in sections.items():
        rules = getattr(policy, section)
        names = ", ".join(sorted({where[f"{section}.{key}"] for key in table}))
        checked = build(type(rules), table, f"{names}: {section}")
        picked = {key: getattr(checked, key) for key in table}
        for key, value in picked.items():
            name = f"{section}.{key}"
            _check_number(value, _least(getattr(type(rules)(), key)), name, where[name])
        made = dataclasses.replace(made, **{section: dataclasses.replace(rules, **picked)})
    return made


def _checked_apply(name: str, value: object, where: str) -> object:
    expected = type(APPLY[name])
    if type(value) is not expected:
        raise UsageError(f"{where}: {name} takes {expected.__name__}, not {value!r}")
    _check_number(value, _least(APPLY[name]), name, where)
    return value


def resolve_settings(sources: Sequence[Source]) -> Settings:
    """The settings of `sources`, weakest first, over the policy they name.

    Raises UsageError for a text that is no TOML, an unknown name or a value of the wrong type, and
    UnknownNameError for an unknown policy.
    """
    found: dict[str, object] = {}
    where: dict[str, str] = {}
    for source in sources:
        for name, value in _read(source).items():
            found[name] = value
            where[name] = source.name
    policy_name = _checked_apply("policy", found.get("policy", APPLY["policy"]),
                                 where.get("policy", "default"))  # fmt: skip
    base = preset(str(policy_name))
    policy = _with(base, found, where)
    origin = f"policy {policy_name}"
    values = {name: Setting(value, origin) for name, value in _defaults(policy).items()}
    for name, default in APPLY.items():
        value = _checked_apply(name, found.get(name, default), where.get(name, "default"))
        values[name] = Setting(value, where.get(name, "default"))
    for name in found:
        if name not in APPLY:
            values[name] = Setting(values[name].value, where[name])
    return Settings(policy, dict(sorted(values.items())))
