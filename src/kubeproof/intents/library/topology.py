"""Where pods are: how evenly spread, with whom, on which nodes; a fact is imported where it is asked for."""

from __future__ import annotations

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.loops.inaction import Trouble
from kubeproof.cluster.loops.mentions import mention_affinity, mention_nothing
from kubeproof.cluster.objects import family
from kubeproof.intents.kind import WEB, AskedIntent, IntentField, IntentKind
from kubeproof.intents.monitor import Monitor, monitor_fact


def _members(asked: AskedIntent) -> tuple[int, ...]:
    return family(asked.layout.setup, asked.workload)


def _skew(asked: AskedIntent) -> Monitor:
    from kubeproof.intents.facts.places import SkewAtMost, matching_workloads

    intent, number, workloads = asked.intent, asked.number, asked.layout.setup.workloads
    affine = workloads[number].template if number is not None else None
    if intent.selector is not None:
        namespace = intent.namespace or (workloads[number].namespace if number is not None else None)
        counted = matching_workloads(workloads, intent.selector, namespace)
    else:
        counted = _members(asked) if number is not None else ()
    fact = SkewAtMost(asked.layout, counted, affine, intent.topology_key, intent.skew, number)
    return monitor_fact(asked, fact, is_bound=True)


def _spread(asked: AskedIntent) -> Monitor:
    from kubeproof.intents.facts.places import SpreadOver

    fact = SpreadOver(asked.layout, _members(asked), asked.intent.topology_key, asked.intent.domains)
    return monitor_fact(asked, fact)


def _build_colocated(asked: AskedIntent) -> Monitor:
    from kubeproof.intents.facts.places import NotColocated, matching_workloads

    intent, workloads, members = asked.intent, asked.layout.setup.workloads, _members(asked)
    namespace = intent.namespace or workloads[asked.workload].namespace
    others = matching_workloads(workloads, intent.selector or LabelSelector(), namespace)
    fact = NotColocated(asked.layout, members, tuple(set(others) - set(members)), intent.topology_key)
    return monitor_fact(asked, fact)


def _only_on(asked: AskedIntent) -> Monitor:
    from kubeproof.intents.facts.places import OnlyOn

    fact = OnlyOn(asked.layout, _members(asked), (), asked.intent.nodes, asked.intent.node_names)
    return monitor_fact(asked, fact)


MAX_SKEW = IntentKind(
    id="S004",
    key="maxSkew",
    category="topology",
    text="Pods differ by at most `skew` between the domains of `topologyKey`.",
    kivi="checkBalanceNode (between nodes, `maxSkew` 2 unless given).",
    claim=lambda intent, who, when: f"pods of {who} differ by at most {intent.skew} over {intent.topology_key}, {when}",
    broken_by="A reachable state in which two domains differ by more bound pods than allowed: soft constraints, "
    "evictions and scale-downs do not restore the spread.",
    example=f"maxSkew: {{{WEB}, topologyKey: topology.kubernetes.io/zone, skew: 1}}",
    troubles=(Trouble.PLACES,),
    watch=_skew,
    reads_nodes=mention_affinity,
    typed_fields=(IntentField.TARGET, "topologyKey", "skew", "selector", "namespace", IntentField.WHEN),
    default_when="always",
    aliases=("checkBalanceNode",),
    is_upper_bound=True,
)
SPREAD = IntentKind(
    id="S008",
    key="spread",
    category="topology",
    text="Pods run in at least `domains` domains of `topologyKey`.",
    claim=lambda intent, who, when: (
        f"pods of {who} are in at least {intent.domains} domains of {intent.topology_key}, {when}"
    ),
    broken_by="A reachable state in which the pods are in fewer domains: one zone can take all of them down.",
    example=f"spread: {{{WEB}, topologyKey: topology.kubernetes.io/zone, domains: 2}}",
    troubles=(Trouble.PLACES,),
    watch=_spread,
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET, "topologyKey", "domains", IntentField.WHEN),
    default_when="always",
)
NOT_COLOCATED = IntentKind(
    id="S009",
    key="notColocated",
    category="topology",
    text="No pod shares a domain of `topologyKey` with pods that `selector` matches.",
    claim=lambda intent, who, when: f"pods of {who} share no {intent.topology_key} with the pods named, {when}",
    broken_by="A domain that holds a pod of the target and one that the selector matches.",
    example=f"notColocated: {{{WEB}, topologyKey: kubernetes.io/hostname, selector: {{matchLabels: {{app: cache}}}}}}",
    troubles=(Trouble.PLACES,),
    watch=_build_colocated,
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET, "topologyKey", "selector", "namespace", IntentField.WHEN),
    default_when="always",
)
ONLY_ON = IntentKind(
    id="S010",
    key="onlyOn",
    category="topology",
    text="Pods run on matching nodes only.",
    claim=lambda intent, who, when: f"pods of {who} are on the nodes named only, {when}",
    broken_by="A pod bound to a node that does not match.",
    example=f"onlyOn: {{{WEB}, selector: {{matchLabels: {{pool: web}}}}}}",
    troubles=(Trouble.PLACES,),
    watch=_only_on,
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET, "nodes", "selector", IntentField.WHEN),
    default_when="always",
)
