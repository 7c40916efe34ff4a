"""What goes round for ever."""

from __future__ import annotations

from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.objects import Workload
from kubeproof.intents.kind import WEB, AskedIntent, IntentField, IntentKind, Targets, follows_from_rest
from kubeproof.intents.monitor import CYCLE, Monitor, eviction_tags, monitor_steps, tags_of_family

_CHANGES = {"any": Tag.STEP, "replicas": Tag.REPLICAS, "placement": Tag.PLACEMENT}


def _oscillates(asked: AskedIntent) -> Monitor:
    tag = int(_CHANGES[asked.intent.of])
    if asked.number is not None and tag == Tag.STEP:
        tag = Tag.REPLICAS | Tag.PODS | Tag.PLACEMENT
    return monitor_steps(asked, CYCLE, tags_of_family(asked.layout, asked.number, tag))


def _is_replaced(workload: Workload) -> bool:
    """Nobody replaces a bare Pod."""
    return not workload.rules.is_pod


SETTLES = IntentKind(
    id="L002",
    key="settles",
    category="oscillation",
    text="With no further events the cluster always becomes stable.",
    claim=lambda intent, who, when: f"with no further events {who} becomes stable",
    broken_by="An endless run without events: two controllers undo each other's work for ever. The loop is shown as a "
    "loop, and told to be inevitable or possible.",
    example="settles: {}",
    watch=_oscillates,
    reads_nodes=mention_nothing,
    typed_fields=(),
    targets=Targets.WHOLE,
    is_sum_of_parts=True,
    is_provable_alone=True,
    asks_of_each_pod=follows_from_rest,
    holds_job_by_job=True,
)
NO_OSCILLATION = IntentKind(
    id="L003",
    key="noOscillation",
    category="oscillation",
    text="No endless run keeps changing replicas or placement.",
    kivi="checkOscillationReplicaNum (`of` is replicas; "
    "Kivi already calls one rise to the maximum and fall an oscillation: state that as maxReplicas).",
    claim=lambda intent, who, when: (
        f"no endless run keeps changing the {'replicas or placement' if intent.of == 'any' else intent.of} of {who}"
    ),
    broken_by="An endless run that keeps writing replicas or keeps moving pods.",
    example=f"noOscillation: {{{WEB}, of: replicas}}",
    watch=_oscillates,
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET, IntentField.CHANGES),
    aliases=("checkOscillationReplicaNum", "checkOscillation"),
    targets=Targets.WHOLE,
    is_sum_of_parts=True,
    is_provable_alone=True,
    asks_of_each_pod=follows_from_rest,
    holds_job_by_job=True,
)
NO_EVICTION_LOOP = IntentKind(
    id="L004",
    key="noEvictionLoop",
    category="oscillation",
    text="No endless run keeps evicting and replacing pods.",
    kivi="checkEvictionCycle (Kivi counts evictions to three; here it is a real cycle).",
    claim=lambda intent, who, when: f"no endless run keeps evicting pods of {who}",
    broken_by="An endless run in which pods are evicted and replaced again and again, typically descheduler against "
    "scheduler.",
    example=f"noEvictionLoop: {{{WEB}, by: descheduler}}",
    watch=lambda asked: monitor_steps(asked, CYCLE, eviction_tags(asked)),
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET, IntentField.EVICTOR),
    aliases=("checkEvictionCycle",),
    fits=_is_replaced,
    is_sum_of_parts=True,
    is_provable_alone=True,
    asks_of_each_pod=follows_from_rest,
    holds_job_by_job=True,
)
NO_CREATE_FAIL_LOOP = IntentKind(
    id="L005",
    key="noCreateFailLoop",
    category="oscillation",
    text="No endless run keeps creating pods that fail or are rejected.",
    claim=lambda intent, who, when: f"no endless run keeps creating pods of {who} that the kubelet rejects",
    broken_by="An endless run in which pods are created, rejected by the kubelet and created again.",
    example=f"noCreateFailLoop: {{{WEB}}}",
    watch=lambda asked: monitor_steps(asked, CYCLE, tags_of_family(asked.layout, asked.number, Tag.REJECT)),
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET,),
    fits=_is_replaced,
    is_sum_of_parts=True,
    is_provable_alone=True,
    asks_of_each_pod=follows_from_rest,
    holds_job_by_job=True,
)
