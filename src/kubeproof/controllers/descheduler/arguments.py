"""Plugin arguments as the policy states them, read with upstream's defaults.

Arguments arrive as frozen plain data: a mapping is a tuple of pairs, so an empty one cannot be told from an
empty list, and numbers with a fraction are text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.steering.policies import DeschedulerPolicy, DeschedulerProfile, Plain
from kubeproof.values import dataclass

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one plugin, looked up by field name."""

    fields: Mapping[str, Plain]

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A boolean field."""
        value = self.fields.get(name)
        return value if isinstance(value, bool) else default

    def number(self, name: str) -> int | None:
        """An integer field, None if absent."""
        value = self.fields.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def text(self, name: str) -> str:
        """A text field, empty if absent."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, empty if absent."""
        value = self.fields.get(name)
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, tuple) else ()

    def open_nested(self, name: str) -> Arguments:
        """A mapping field, empty if absent."""
        return Arguments(_mapping(self.fields.get(name)))

    def percentages(self, name: str) -> dict[str, float]:
        """A mapping from resource to percent."""
        return {
            key: float(value) for key, value in self.open_nested(name).fields.items() if isinstance(value, int | str)
        }

    def selector(self, name: str) -> LabelSelector | None:
        """A LabelSelector field; None if absent."""
        if self.fields.get(name) is None:
            return None
        selector = self.open_nested(name)
        labels = [
            Requirement(key, "In", (str(value),)) for key, value in selector.open_nested("matchLabels").fields.items()
        ]
        expressions = selector.fields.get("matchExpressions")
        for item in expressions if isinstance(expressions, tuple) else ():
            one = Arguments(_mapping(item))
            labels.append(Requirement(one.text("key"), one.text("operator"), one.texts("values")))
        return LabelSelector(tuple(labels))

    def seconds(self, name: str) -> float | None:
        """A Go duration such as `1h30m`; None if absent."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            return float(value) if isinstance(value, int) else None
        return sum(float(amount) * _SECONDS[unit] for amount, unit in _DURATION.findall(value))

    def admits_namespace(self, namespace: str, *, field: str = "namespaces") -> bool:
        """True if the include and exclude lists let the namespace through."""
        chosen = self.open_nested(field)
        include, exclude = chosen.texts("include"), chosen.texts("exclude")
        return (not include or namespace in include) and namespace not in exclude


def arguments_of(profile: DeschedulerProfile, plugin: str) -> Arguments:
    """What the profile configures for a plugin; nothing if it does not."""
    return Arguments(_mapping(dict(profile.arguments).get(plugin)))


def plugins_at(profile: DeschedulerProfile, point: str) -> tuple[str, ...]:
    """The plugins enabled at an extension point, in the configured order."""
    return tuple(name for key, names in profile.enabled if key.lower() == point for name in names)


def _mapping(value: Plain) -> dict[str, Plain]:
    """A mapping's entries; empty for anything else."""
    if not isinstance(value, tuple):
        return {}
    pairs = [item for item in value if isinstance(item, tuple) and len(item) == 2]
    return {key: content for key, content in pairs if isinstance(key, str)}


def policy_requirements(policy: DeschedulerPolicy) -> tuple[Requirement, ...]:
    """What the policy asks of node labels: its own nodeSelector and those of its plugins."""
    texts = [policy.node_selector]
    for profile in policy.profiles:
        texts += [arguments_of(profile, plugin).text("nodeSelector") for plugin, _ in profile.arguments]
    return tuple(requirement for text in texts for requirement in parse_selector(text).requirements)


def parse_selector(text: str) -> LabelSelector:
    """A selector in kubectl's notation: `a=b,c!=d,e in (f,g),h notin (i),j,!k`; empty text selects all."""
    return LabelSelector(tuple(_requirement(part) for part in re.split(r",(?![^()]*\))", text) if part.strip()))


def _requirement(part: str) -> Requirement:
    """One comma-separated piece of a selector."""
    part = part.strip()
    chosen = re.fullmatch(r"(\S+)\s+(in|notin)\s*\(([^)]*)\)", part)
    if chosen:
        values = tuple(value.strip() for value in chosen[3].split(","))
        return Requirement(chosen[1], "In" if chosen[2] == "in" else "NotIn", values)
    if part.startswith("!"):
        return Requirement(part[1:].strip(), "DoesNotExist")
    compared = re.fullmatch(r"([^=!<>\s]+)\s*(==|=|!=|>|<)\s*(\S*)", part)
    if compared is None:
        return Requirement(part, "Exists")
    operator = {"!=": "NotIn", ">": "Gt", "<": "Lt"}.get(compared[2], "In")
    return Requirement(compared[1], operator, (compared[3],))
