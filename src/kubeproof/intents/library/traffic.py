"""Who gets traffic; its facts are imported where they are asked for."""

from __future__ import annotations

from kubeproof.cluster.loops.inaction import Trouble
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.intents.kind import WEB, AskedIntent, IntentField, IntentKind
from kubeproof.intents.monitor import Monitor, monitor_fact


def _load_skew(asked: AskedIntent) -> Monitor:
    from kubeproof.intents.facts.traffic import LoadSkewAtMost

    return monitor_fact(asked, LoadSkewAtMost(asked.layout, asked.workload, asked.intent.skew), is_bound=True)


def _build_misrouted(asked: AskedIntent) -> Monitor:
    from kubeproof.intents.facts.traffic import NothingMisrouted

    return monitor_fact(asked, NothingMisrouted(asked.layout, asked.workload), is_bound=True)


MAX_LOAD_SKEW = IntentKind(
    id="S012",
    key="maxLoadSkew",
    category="traffic",
    text="No ready pod gets more than `skew` times the traffic of another from a Service, which splits it by node "
    "where `externalTrafficPolicy` is Local, otherwise by pod.",
    claim=lambda intent, who, when: (
        f"no ready pod of {who} gets more than {intent.skew} times the traffic of another, {when}"
    ),
    broken_by="A state in which a ready pod gets more than so many times the traffic of another, because traffic is "
    "split by node and nodes have different numbers of pods.",
    example=f"maxLoadSkew: {{{WEB}, skew: 2}}",
    troubles=(Trouble.PLACES,),
    watch=_load_skew,
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET, IntentField.SKEW, IntentField.WHEN),
    default_when="always",
    is_upper_bound=True,
)
NO_TRAFFIC_TO_TERMINATING = IntentKind(
    id="S013",
    key="noTrafficToTerminating",
    category="traffic",
    text="No pod that has been told to stop still gets traffic, because a proxy or the controller of an Ingress has "
    "not learnt yet that it terminates, or because no ready pod is left.",
    claim=lambda intent, who, when: f"no pod of {who} that has been told to stop gets traffic, {when}",
    broken_by="A pod that has been told to stop and still gets requests: its endpoints were not updated in time.",
    example=f"noTrafficToTerminating: {{{WEB}}}",
    troubles=(Trouble.TRAFFIC,),
    watch=_build_misrouted,
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET, IntentField.WHEN),
    default_when="always",
    is_upper_bound=True,
    follows_traffic=True,
    unseen="when proxies learn that a pod ends is in no object",
)
