"""neverReady and completes: how pods are, from the start of the run; nothing that happens."""

from __future__ import annotations

from kubeproof.cluster.loops.footprint import CIRCUMSTANCE
from kubeproof.cluster.objects import Workload
from kubeproof.events.event import EVERY_REVISION, INITIAL_REVISION, NEW_REVISION, WEB, Event
from kubeproof.events.manual import TARGET, Field, FieldType, Manual
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverReady(Event):
    """Pods of a revision never become ready; not a moment."""

    target: str
    revision: str = EVERY_REVISION  # all, initial, new

    manuals = (
        Manual(
            key="neverReady",
            text="Pods of a revision run and never become ready: a broken release. Holds from the start, it is no "
            "moment.",
            fields=(
                TARGET,
                Field(
                    "revision",
                    FieldType.WORD,
                    "revision",
                    EVERY_REVISION,
                    words=(EVERY_REVISION, INITIAL_REVISION, NEW_REVISION),
                    note="all, initial or new",
                ),
            ),
            example=f"neverReady: {{{WEB}, revision: new}}",
        ),
    )

    footprint = CIRCUMSTANCE

    @staticmethod
    def unfit(workload: Workload) -> str:
        return "is a Job, whose pods end whether they are ready or not" if workload.rules.runs_to_completion else ""

    @property
    def never_ready(self) -> str:
        return self.revision

    def describe(self) -> str:
        pods = {EVERY_REVISION: "pods", INITIAL_REVISION: "pods of the first revision"}
        return f"{pods.get(self.revision, 'pods of later revisions')} of {self.target} never become ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completes(Event):
    """How long the pods of a Job (or of a CronJob's Jobs) run before they succeed; not a moment."""

    target: str
    least_s: int
    most_s: int

    manuals = (
        Manual(
            key="completes",
            text="How long pods of Jobs run. Holds from the start, it is no moment.",
            fields=(TARGET, Field("after", note="required"), Field("within")),
            example="completes: {target: Job/shop/report, after: 60s}",
        ),
    )

    footprint = CIRCUMSTANCE

    @staticmethod
    def unfit(workload: Workload) -> str:
        return (
            "" if workload.rules.runs_to_completion else "is not a Job or CronJob, so its pods do not end by themselves"
        )

    @property
    def run_s(self) -> tuple[int, int]:
        return self.least_s, self.most_s

    def describe(self) -> str:
        span = f"{self.least_s}" if self.least_s == self.most_s else f"{self.least_s} to {self.most_s}"
        return f"pods of {self.target} run for {span} s"
