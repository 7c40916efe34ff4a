"""Service levels of a Scenario, which stand among its intents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from kubeproof.events.workload import WorkloadSpec
from kubeproof.intents.library.service_levels import LEVEL_KEYS, LEVELS, About, LevelKind, ServiceLevel, Unit
from kubeproof.manifests.scenarios.events.fields import Surroundings, only_key
from kubeproof.manifests.scenarios.intents.targets import read_targets
from kubeproof.manifests.yaml.durations import parse_milliseconds
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?", re.ASCII)


def read_levels(spec: Fields, around: Surroundings, workload: WorkloadSpec | None) -> tuple[ServiceLevel, ...]:
    """The service levels, one per service where an entry names several or none."""
    found: list[ServiceLevel] = []
    for one in spec.children("intents"):
        if set(one.mapping.entries) & LEVEL_KEYS:
            found += spec.log.gather(partial(_read_entry, one, around, workload), [])
    return tuple(_with_unique_names(found))


def _read_entry(one: Fields, around: Surroundings, workload: WorkloadSpec | None) -> list[ServiceLevel]:
    key, fields = only_key(one, set(LEVEL_KEYS), "intent")
    kind = next(kind for kind in LEVELS if kind.key == key)
    name, limit = fields.text("name"), _limit(fields, kind)
    percentile = _percentile(fields) if kind.has_percentile else 95.0
    count = (fields.integer("count", least=1) or 1) if kind.has_count else 1
    targets = _targets(kind, fields, around, workload)
    fields.finish_strictly("name", "target", kind.limit)
    return [
        ServiceLevel(
            kind=kind,
            name=(name if name and len(targets) == 1 else f"{name or key} {target}").rstrip(),
            target=target,
            limit=limit,
            percentile=percentile,
            count=count,
            source=fields.source,
        )
        for target in targets
    ]


def _targets(kind: LevelKind, fields: Fields, around: Surroundings, workload: WorkloadSpec | None) -> list[str]:
    if kind.about is About.CLUSTER:
        return [""]
    if kind.about is About.WORKLOAD:
        chosen = read_targets(fields, around.workloads)
        return [one.ref for one in (around.workloads if chosen is None else chosen)]
    return _served(fields, around, workload)


def _served(fields: Fields, around: Surroundings, workload: WorkloadSpec | None) -> list[str]:
    served = [service.target for service in workload.services] if workload is not None else []
    chosen = read_targets(fields, around.workloads)
    found = served if chosen is None else [one.ref for one in chosen]
    missing = next((target for target in found if target not in served), "" if found else "the input")
    if missing:
        remedy = "List it under spec.workload.services, with what its requests are like"
        fields.log.fail(f"{fields.path}: {missing} gets no requests", line=fields.mapping.line, remedy=remedy)
    return found


def _limit(fields: Fields, kind: LevelKind) -> float:
    text = fields.number(kind.limit)
    if text is None:
        fields.fail(kind.limit, "is required", remedy=f"Write for instance {kind.example}")
    if kind.unit is Unit.SECONDS:
        milliseconds = parse_milliseconds(text or "")
        if not milliseconds:
            remedy = "Write a duration above zero, such as 200ms"
            fields.fail(kind.limit, f"is {printable(text or '')!r}", remedy=remedy)
        return (milliseconds or 0) / 1000
    if kind.unit is Unit.SHARE:
        found = _PERCENT.fullmatch(text or "")
        if found is None or float(found[1]) > 100:
            fields.fail(kind.limit, f"is {printable(text or '')!r}", remedy="Write a percentage such as 99.9%")
        return float(Fraction(found[1]) / 100) if found else 0.0
    if not _NUMBER.fullmatch(text or ""):
        fields.fail(kind.limit, f"is {printable(text or '')!r}", remedy="Write a plain number")
    return float(text or 0)


def _percentile(fields: Fields) -> float:
    text = fields.number("percentile")
    if text is None:
        return 95.0
    if not _NUMBER.fullmatch(text) or not 0 < float(text) < 100:
        fields.fail("percentile", f"is {printable(text)!r}", remedy="Write a number between 0 and 100, such as 99")
    return float(text)


def _with_unique_names(levels: list[ServiceLevel]) -> Iterator[ServiceLevel]:
    from kubeproof.values import replace

    taken: set[str] = set()
    for level in levels:
        name, number = level.name, 2
        while name in taken:
            name, number = f"{level.name} #{number}", number + 1
        taken.add(name)
        yield replace(level, name=name)
