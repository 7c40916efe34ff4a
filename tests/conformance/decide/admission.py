"""What our admission makes of recorded pods, and how many of them it lets in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kubeproof.cluster.objects import PodTemplate, Settings, Setup, Workload
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.controllers.admission.limit_ranger import refusals, with_defaults
from kubeproof.controllers.admission.quota import Charged, find_unstated, is_meant, ration_of
from kubeproof.controllers.scheduler.requests import limits_of, requests_of
from kubeproof.manifests.kinds.quotas import read_limit_range, read_quota
from kubeproof.manifests.kinds.workloads import read_pod
from tests.conformance.corpus import Case, Decision, version_of
from tests.conformance.objects import fields

MOST = 6
NOW_S, STUCK_AFTER_S = 600, 30  # ten past twelve; charged until the deletion time and the grace period are over


def decide(case: Case, upstream: str) -> Decision:
    """Resources after defaulting, the pods let in, and why no more."""
    version = version_of(upstream)
    ranges = [read_limit_range(fields(one)) for one in case.get("limitRanges", ())]
    pod = _workload(case["pod"])
    template = with_defaults(pod.template, ranges)
    decision: dict[str, Any] = {"c": _resources(template), "n": 0, "w": ""}
    refused = refusals(template, ranges, version)
    if refused:
        return decision | {"w": "limits" if all("(LimitRange" in reason for reason in refused) else "invalid"}
    return decision | _admitted(case, _with(pod, template), version)


def _admitted(case: Case, pod: Workload, version: tuple[int, int]) -> dict[str, Any]:
    quotas = tuple(_quota(one) for one in case.get("quotas", ()))
    if any(is_meant(quota, pod) and find_unstated(pod.template, quota) for quota in quotas):
        return {"w": "unstated"}
    present = [_workload(one) for one in case.get("pods", ())]
    setup = Setup(workloads=(pod, *present), settings=Settings(kubernetes_version=version), quotas=quotas)
    ration = ration_of(setup, 0)
    room = ration.room(dict(_charges(case))) if ration is not None else MOST
    return {"n": min(room, MOST), "w": "exceeded" if room < MOST else ""}


def _charges(case: Case) -> Iterator[tuple[int, Charged]]:
    for number, pod in enumerate(case.get("pods", ()), start=1):
        stuck = _is_stuck(pod["metadata"].get("deletionTimestamp"))
        yield number, Charged(number, int(not stuck), int(stuck))


def _is_stuck(deleted: str | None) -> bool:
    if deleted is None:
        return False
    hours, minutes, seconds = deleted[11:19].split(":")
    return 3600 * int(hours) + 60 * int(minutes) + int(seconds) + STUCK_AFTER_S < NOW_S


def _quota(case: Any) -> ResourceQuota:
    quota = read_quota(fields(case))
    assert quota is not None
    return quota


def _workload(pod: Any) -> Workload:
    plain = {"metadata": {"name": "p", "namespace": "s"}, "spec": pod["spec"]}
    return read_pod(fields(json.loads(json.dumps(plain)))).workload


def _with(pod: Workload, template: PodTemplate) -> Workload:
    return Workload(pod.kind, pod.namespace, pod.name, template)


def _resources(template: PodTemplate) -> list[dict[str, int]]:
    return [
        {f"r {name}": amount for name, amount in requests_of(container).items()}
        | {f"l {name}": amount for name, amount in limits_of(container).items()}
        for container in (*template.containers, *template.init_containers)
    ]
