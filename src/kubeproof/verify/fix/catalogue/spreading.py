"""Topology spread constraints: how hard they are, what they count, and new ones."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import Path, Plain, drop, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import HOST, POD_SPECS, ZONE, Around, labels_of, pod_path
from kubeproof.verify.fix.edits import TRADE, TUNE, Edit, edit

SPREAD, NEW_SPREAD, NO_SPREAD = "spread", "newSpread", "dropSpread"
HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
ANSWERS = ("PodTopologySpread", ActorKind.DESCHEDULER, "spread", "maxSkew", "maxLoadSkew")
WAITS = "a pod waits where it would break the spread"
REVISION = "pod-template-hash"


def propose_spreading(one: Written, around: Around) -> Iterator[Edit]:
    """Every constraint a little different, and one for hosts or zones where there is none."""
    if one.kind not in POD_SPECS or one.kind in ("Pod", "DaemonSet"):
        return
    path = (*pod_path(one), "topologySpreadConstraints")
    constraints = one.at(*path) or []
    for number, constraint in enumerate(constraints):
        yield from _tune(one, (*path, number), constraint)
    keys = {constraint.get("topologyKey") for constraint in constraints}
    known = {key for node in around.of_kind("Node") for key in node.at("metadata", "labels") or ()} or {HOST, ZONE}
    for key in (HOST, ZONE):
        if key not in keys and key in known:
            yield from _add(one, path, len(constraints), key)


def _tune(one: Written, path: Path, constraint: Plain) -> Iterator[Edit]:
    key, skew = constraint.get("topologyKey"), constraint.get("maxSkew", 1)
    is_hard = constraint.get("whenUnsatisfiable", HARD) == HARD
    now, other = (HARD, SOFT) if is_hard else (SOFT, HARD)
    lost = f"pods spread over {key} only as far as it is easy" if is_hard else WAITS
    yield edit(
        SPREAD, one, f"spread over {key}: whenUnsatisfiable {now} -> {other}",
        *((drop(*path, "minDomains"),) if is_hard and "minDomains" in constraint else ()),
        put(*path, "whenUnsatisfiable", value=other),
        cost=TUNE + (TRADE if is_hard else TRADE // 2), gives_up=lost, answers=ANSWERS,
    )  # fmt: skip
    for more in (1, 2):
        yield edit(
            SPREAD, one, f"spread over {key}: maxSkew {skew} -> {skew + more}",
            put(*path, "maxSkew", value=skew + more),
            cost=TUNE + TRADE // 2 + more, gives_up=f"a domain of {key} may have {skew + more} pods more than another",
            answers=ANSWERS,
        )  # fmt: skip
    if "minDomains" in constraint:
        lost = f"how many domains of {key} there must be"
        yield edit(
            SPREAD, one, f"spread over {key}: no minDomains", drop(*path, "minDomains"), cost=TUNE + TRADE,
            gives_up=lost, answers=ANSWERS,
        )  # fmt: skip
    for field, value in (("nodeTaintsPolicy", "Honor"), ("nodeAffinityPolicy", "Honor")):
        if constraint.get(field, "Ignore" if field == "nodeTaintsPolicy" else "Honor") != value:
            does = f"spread over {key}: {field} {value}"
            yield edit(SPREAD, one, does, put(*path, field, value=value), cost=TUNE + 1, answers=ANSWERS)
    if one.kind == "Deployment" and REVISION not in (constraint.get("matchLabelKeys") or ()):
        keys = constraint.get("matchLabelKeys") or []
        yield edit(
            SPREAD, one, f"spread over {key}: revisions apart (matchLabelKeys)",
            put(*path, "matchLabelKeys", len(keys), value=REVISION), cost=TUNE + 1, answers=ANSWERS,
        )  # fmt: skip
    yield edit(
        NO_SPREAD, one, f"no constraint over {key}", drop(*path), cost=TUNE + 2 * TRADE,
        gives_up=f"the spread over {key}", answers=ANSWERS,
    )  # fmt: skip


def _add(one: Written, path: Path, number: int, key: str) -> Iterator[Edit]:
    for when, cost in ((HARD, TUNE + 5), (SOFT, TUNE + 4)):
        constraint = {
            "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when,
            "labelSelector": {"matchLabels": labels_of(one)},
        }  # fmt: skip
        lost = WAITS if when == HARD else ""
        yield edit(
            NEW_SPREAD, one, f"a new spread over {key}, {when}", put(*path, number, value=constraint),
            cost=cost, gives_up=lost, answers=("spread", "maxLoadSkew", "maxSkew", ActorKind.DRAIN),
        )  # fmt: skip
