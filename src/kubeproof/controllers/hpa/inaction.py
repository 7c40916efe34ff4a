"""Why an autoscaler leaves the size as it is, in the order in which upstream looks."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.inaction import Field, Idle, Rule, Trouble, pod_field
from kubeproof.cluster.objects import Workload
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler
from kubeproof.controllers.hpa.calculator import OPPOSITE, TURNED, WITHIN_TOLERANCE, Failure
from kubeproof.controllers.hpa.decide import Judged, ScaleDecision
from kubeproof.controllers.hpa.samples import find_without_request

MINIMUM = "spec.minReplicas"
FILE = "pkg/controller/podautoscaler/horizontal.go"
HELPS = (Trouble.REPLICAS,)
DISABLED = Rule(
    "autoscaler-disabled", "A target with 0 replicas is left alone: 0 switches autoscaling off.", FILE, HELPS
)
AMBIGUOUS = Rule(
    "autoscaler-ambiguous",
    "More than one autoscaler selects the same pods (condition AmbiguousSelector): each of them stops.",
    FILE,
    HELPS,
)
NO_METRIC = Rule(
    "autoscaler-no-metric",
    "Without any usable metric (FailedGetResourceMetric) the size stays. Use in percent of requests needs a request of "
    "every container; and if one of several metrics fails, there is no scaling down.",
    FILE,
    HELPS,
)
IN_TOLERANCE = Rule(
    "autoscaler-within-tolerance",
    "A measured use that is off the target by less than the tolerance (10 % unless told otherwise) changes nothing.",
    "pkg/controller/podautoscaler/replica_calculator.go",
    HELPS,
)
AT_BOUND = Rule(
    "autoscaler-at-its-bound", "What the metrics ask for is cut off at minReplicas and maxReplicas.", FILE, HELPS
)
IN_WINDOW = Rule(
    "autoscaler-held-by-window",
    "Stabilization windows and rates of behavior hold a change back: on the way down the highest recommendation of the "
    "last 300 s counts unless told otherwise.",
    FILE,
    HELPS,
)
NEXT_SYNC = Rule("autoscaler-next-sync", "It looks once per sync period (15 s unless told otherwise).", FILE, HELPS)
RULES = (DISABLED, AMBIGUOUS, NO_METRIC, IN_TOLERANCE, AT_BOUND, IN_WINDOW, NEXT_SYNC)


class Sync:
    """A sync that changes nothing now, with what it goes by."""

    def __init__(
        self,
        declared: HorizontalPodAutoscaler,
        target: Workload,
        current: int,
        judged: Judged | None,
        outcome: ScaleDecision,
        due_s: int,
    ) -> None:
        self._declared, self._target, self._current = declared, target, current
        self._judged, self._outcome, self._due_s = judged, outcome, due_s

    def why(self) -> Iterator[Idle]:
        """The rule that keeps the size; while a change is only a matter of the next sync, that."""
        declared, current = self._declared, self._current
        ref = declared.target
        if self._outcome.replicas != current:
            when = f"in {self._due_s} s" if self._due_s > 0 else "now"
            says = (
                f"looks only once per sync: next {when}, then sets spec.replicas of {ref} to {self._outcome.replicas}"
            )
            change = ""
            if current < declared.min_replicas:
                change = (
                    f"let whoever writes spec.replicas of {ref} keep it at minReplicas {declared.min_replicas} or more"
                )
            numbers = (("due in s", self._due_s),)
            yield Idle(NEXT_SYNC, f"{says} ({'; '.join(self._reasons())})", change, numbers, fields=self._at(MINIMUM))
        elif current == 0:
            fields = (Field(ref, "spec.replicas"),)
            change = f"set spec.replicas of {ref} above 0"
            yield Idle(DISABLED, f"is disabled: {ref} has 0 replicas", change, fields=fields)
        elif self._judged is None:
            change = f"let the selector of {ref} and of what shares its pods select own pods only"
            fields = (Field(ref, "spec.selector"),)
            yield Idle(AMBIGUOUS, f"does nothing: {self._outcome.reasons[0]}", change, fields=fields)
        elif isinstance(self._judged.proposal, Failure):
            yield self._no_metric(self._judged, self._judged.proposal)
        else:
            yield self._kept(self._judged, self._judged.proposal)

    @property
    def _name(self) -> str:
        return f"HorizontalPodAutoscaler/{self._declared.namespace}/{self._declared.name}"

    def _at(self, path: str) -> tuple[Field, ...]:
        return (Field(self._name, path),)

    def _reasons(self) -> tuple[str, ...]:
        words = () if self._judged is None else self._judged.words
        return words + self._outcome.reasons

    def _no_metric(self, judged: Judged, failure: Failure) -> Idle:
        lacking = [
            f"container {container} of {self._target.ref} requests no {metric.name}"
            for metric in judged.metrics
            for container in find_without_request(self._target.template, metric.name, metric.container)
        ]
        detail = "; ".join([*dict.fromkeys(lacking)] or judged.words)
        change = f"state what is missing: {'; '.join(dict.fromkeys(lacking))}" if lacking else ""
        says = f"stays at {self._current}: FailedGetResourceMetric, {failure.reason} ({detail})"
        fields = (pod_field(self._target.declared_as, "containers"),)
        return Idle(NO_METRIC, says, change, (("replicas", self._current),), fields=fields)

    def _kept(self, judged: Judged, proposal: int) -> Idle:
        declared, current = self._declared, self._current
        numbers = (("replicas", current), ("asked for", proposal))
        told, fields = "; ".join(self._reasons()), self._at("spec.maxReplicas")
        if proposal > current == declared.max_replicas:
            change = f"raise maxReplicas {current} of {self._name}"
            lowers = f"lower maxReplicas {current} of {self._name}, or {self._ask_less()}"
            return Idle(AT_BOUND, f"stays at maxReplicas {current}: {told}", change, numbers, "", fields, lowers)
        if proposal < current == declared.min_replicas:
            change = f"raise minReplicas {current} of {self._name}"
            lowers = f"lower minReplicas {current} of {self._name}"
            fields = self._at(MINIMUM)
            return Idle(AT_BOUND, f"stays at minReplicas {current}: {told}", change, numbers, "", fields, lowers)
        rules = {one.rule for one in judged.computed if not isinstance(one, Failure)}
        if proposal == current and rules & {WITHIN_TOLERANCE, TURNED, OPPOSITE}:
            return Idle(IN_TOLERANCE, f"stays at {current}: {told}", "", numbers)
        if proposal == current:
            change = f"raise minReplicas {declared.min_replicas} of {self._name}"
            says, fields = f"stays at {current}, which is what it works out: {told}", self._at(MINIMUM)
            return Idle(AT_BOUND, says, change, numbers, "", fields, self._ask_less())
        until = "" if self._due_s == NEVER else f", for {self._due_s} s more"
        change = f"shorten stabilizationWindowSeconds of {self._name}"
        return Idle(IN_WINDOW, f"stays at {current}{until}: {told}", change, numbers, fields=self._at("spec.behavior"))

    def _ask_less(self) -> str:
        return f"let its metric ask for less (a higher target, or more requested by {self._target.declared_as})"
