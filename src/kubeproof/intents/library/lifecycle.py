"""What becomes of pods, rollouts, drains and Jobs; facts about rarer kinds are imported where one is asked for."""

from __future__ import annotations

from kubeproof.cluster.kinds import DAEMON_SET, STATEFUL_SET
from kubeproof.cluster.loops.inaction import Trouble
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.nodes.daemons import mention_eligibility
from kubeproof.cluster.objects import family
from kubeproof.intents.declarations import Intent
from kubeproof.intents.facts.counts import NothingMissing, NothingPending, RolloutComplete
from kubeproof.intents.kind import (
    WEB,
    AskedIntent,
    IntentField,
    IntentKind,
    Targets,
    follows_from_leaving,
    follows_from_readiness,
)
from kubeproof.intents.monitor import (
    IN_STABLE,
    PERSISTENT,
    STEP,
    Monitor,
    eviction_tags,
    monitor_fact,
    monitor_steps,
    tags_of_family,
)
from kubeproof.intents.views import AnyFact


def _pending(asked: AskedIntent) -> Monitor:
    """No pod waits for ever; steps that bind one excuse it."""
    make = NothingMissing if _may_be_refused(asked) else NothingPending
    tags = tags_of_family(asked.layout, asked.number, Tag.BIND)
    return monitor_fact(asked, make(asked.layout, asked.workload), kind=PERSISTENT, tags=tags)


def _may_be_refused(asked: AskedIntent) -> bool:
    """True if the API server may refuse pods of the target."""
    setup = asked.layout.setup
    workloads = [setup.workloads[member] for member in family(setup, asked.workload)]
    spaces = {quota.namespace for quota in setup.quotas}
    return any(workload.refused or workload.namespace in spaces for workload in workloads)


def _rollout(asked: AskedIntent) -> Monitor:
    return monitor_fact(asked, _build_rolled_out(asked), kind=PERSISTENT)


def _build_rolled_out(asked: AskedIntent) -> AnyFact:
    """When a rollout is complete is a matter of the kind."""
    layout, workload = asked.layout, asked.workload
    kind = layout.setup.workloads[workload].kind
    if kind == DAEMON_SET:
        from kubeproof.intents.facts.daemons import DaemonRolloutComplete

        return DaemonRolloutComplete(layout, workload)
    if kind == STATEFUL_SET:
        from kubeproof.intents.facts.stateful import StatefulRolloutComplete

        return StatefulRolloutComplete(layout, workload)
    return RolloutComplete(layout, workload)


def _drain(asked: AskedIntent) -> Monitor:
    """Drains complete; of a target, as the survival matrix asks, its pods leave the node."""
    from kubeproof.intents.facts.drained import DrainsComplete

    members = None if asked.number is None else family(asked.layout.setup, asked.number)
    return monitor_fact(asked, DrainsComplete(asked.layout, members), kind=PERSISTENT)


def _on_every_node(asked: AskedIntent) -> Monitor:
    from kubeproof.intents.facts.daemons import RunsOnEveryNode

    return monitor_fact(asked, RunsOnEveryNode(asked.layout, asked.workload))


def _complete(asked: AskedIntent) -> Monitor:
    from kubeproof.intents.facts.jobs import AllComplete

    return monitor_fact(asked, AllComplete(asked.layout, asked.workload), kind=PERSISTENT)


def _drains_complete(intent: Intent, who: str, when: str) -> str:
    if intent.target is None:
        return "every drain of a node that stays up is completed"
    return f"pods of {who} leave every node that is drained and stays up"


def _no_eviction(intent: Intent, who: str, when: str) -> str:
    if intent.by == "kernelPanic":
        return "no node fails of overload"
    by = "" if intent.by == "any" else f" by {intent.by}"
    return f"no pod of {who} is evicted{by}"


SCHEDULABLE = IntentKind(
    id="S005",
    key="schedulable",
    category="lifecycle",
    text="In no stable state a pod is left without a feasible node.",
    kivi="no_feasible_node.",
    claim=lambda intent, who, when: f"no pod of {who} is left without a feasible node in a stable state",
    broken_by="A stable state in which a pod has no node: every filter that refuses it is told for every node.",
    example=f"schedulable: {{{WEB}}}",
    watch=lambda asked: monitor_fact(asked, NothingPending(asked.layout, asked.workload), kind=IN_STABLE),
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET,),
    default_when="stable",
    aliases=("no_feasible_node", "no_feasiable_node"),
    is_provable_alone=True,
    asks_of_each_pod=follows_from_readiness,
)
NO_EVICTION = IntentKind(
    id="S011",
    key="noEviction",
    category="lifecycle",
    text="No pod is evicted, by anybody or by `by`: descheduler, drain, taint, preemption, vpa, kernelPanic.",
    kivi="kernel_panic (`by` is kernelPanic: an idle node never panics, so no node panics if no pod is lost to it).",
    claim=_no_eviction,
    broken_by="A step that evicts a pod of the target, by anybody or by the one named.",
    example=f"noEviction: {{{WEB}, by: descheduler}}",
    troubles=(Trouble.TAKEN,),
    watch=lambda asked: monitor_steps(asked, STEP, eviction_tags(asked)),
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET, IntentField.EVICTOR),
    aliases=("kernel_panic",),
    is_sum_of_parts=True,
)
NO_PENDING_FOREVER = IntentKind(
    id="L001",
    key="noPendingForever",
    category="lifecycle",
    text="No pod waits for ever, for a node or to be let in by a quota.",
    claim=lambda intent, who, when: f"no pod of {who} waits for ever",
    broken_by="A stable state in which a pod has no node, or an endless run in which it never gets one.",
    example=f"noPendingForever: {{{WEB}}}",
    watch=_pending,
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET,),
    is_provable_alone=True,
    asks_of_each_pod=follows_from_readiness,
)
ROLLOUT_COMPLETES = IntentKind(
    id="L006",
    key="rolloutCompletes",
    category="lifecycle",
    text="Every rollout that nobody interrupts completes.",
    claim=lambda intent, who, when: f"every rollout of {who} is completed",
    broken_by="A rollout that nobody interrupts and that never gets all of its new pods ready.",
    example=f"rolloutCompletes: {{{WEB}}}",
    awaits="changes its pod template",
    troubles=(Trouble.ROLLOUT,),
    watch=_rollout,
    reads_nodes=mention_eligibility,
    typed_fields=(IntentField.TARGET,),
    fits=lambda workload: workload.rules.rolls_out,
    is_provable_alone=True,
    asks_of_each_pod=follows_from_readiness,
)
DRAIN_COMPLETES = IntentKind(
    id="L007",
    key="drainCompletes",
    category="lifecycle",
    text="Every eviction that a drain of a healthy node needs is granted after finitely many attempts.",
    claim=_drains_complete,
    broken_by="A drain of a healthy node that waits for ever because a PodDisruptionBudget never grants an eviction.",
    example="drainCompletes: {}",
    awaits="drains a node",
    troubles=(Trouble.EVICTION,),
    watch=_drain,
    reads_nodes=mention_nothing,
    typed_fields=(),
    targets=Targets.NONE,
    is_sum_of_parts=True,
    is_provable_alone=True,
    asks_of_each_pod=follows_from_leaving,
    holds_job_by_job=True,
)
RUNS_ON_EVERY_NODE = IntentKind(
    id="L008",
    key="runsOnEveryNode",
    category="lifecycle",
    text="Every node where the DaemonSet should run has a ready pod of it.",
    claim=lambda intent, who, when: f"{who} has a ready pod on every node where it should run",
    broken_by="A node on which the DaemonSet should run and never does: no room, or a pod that is rejected.",
    example="runsOnEveryNode: {target: DaemonSet/shop/agent}",
    watch=_on_every_node,
    reads_nodes=mention_eligibility,
    typed_fields=(IntentField.TARGET, IntentField.WHEN),
    default_when="eventuallyAlways",
    fits=lambda workload: workload.rules.runs_per_node,
    is_provable_alone=True,
)
COMPLETES = IntentKind(
    id="L009",
    key="completes",
    category="lifecycle",
    text="Every Job, and every Job that a CronJob starts, completes; one that fails or is replaced does not.",
    claim=lambda intent, who, when: (
        f"every Job of {who} completes" if who.startswith("CronJob/") else f"{who} completes"
    ),
    broken_by="A Job that fails, is replaced, or never ends.",
    example="completes: {target: Job/shop/report}",
    troubles=(Trouble.COMPLETION,),
    watch=_complete,
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET,),
    fits=lambda workload: workload.rules.runs_to_completion,
    is_provable_alone=True,
    holds_job_by_job=True,
)
