"""How many: ready pods, pods, Pod objects, nodes."""

from __future__ import annotations

from kubeproof.cluster.loops.inaction import Trouble
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.objects import family
from kubeproof.intents.declarations import Amount
from kubeproof.intents.facts.counts import NodesAtMost, PodObjectsAtMost, ReadyAtLeast, ReplicasAtLeast, ReplicasAtMost
from kubeproof.intents.kind import WEB, AskedIntent, IntentField, IntentKind, Targets, counts_in_the_end
from kubeproof.intents.monitor import Monitor, monitor_fact

_COUNTED = (IntentField.TARGET, IntentField.AMOUNT, IntentField.WHEN)


def _amount(asked: AskedIntent) -> Amount:
    return asked.intent.count or Amount(1)


def _pod_objects(asked: AskedIntent) -> Monitor:
    everyone = tuple(range(len(asked.layout.setup.workloads)))
    counted = everyone if asked.number is None else family(asked.layout.setup, asked.number)
    fact = PodObjectsAtMost(asked.layout, counted, _amount(asked).number, asked.intent.phases)
    return monitor_fact(asked, fact, is_bound=True)


def _nodes(asked: AskedIntent) -> Monitor:
    intent = asked.intent
    fact = NodesAtMost(asked.layout, _amount(asked).number, intent.nodes, intent.node_names)
    return monitor_fact(asked, fact, is_bound=True)


MIN_READY = IntentKind(
    id="S001",
    key="minReady",
    category="numbers",
    text="At least `count` pods are ready.",
    claim=lambda intent, who, when: f"{who} has at least {intent.count} ready pods, {when}",
    broken_by="A reachable state with fewer ready pods, once the workload had all it wants. Ready is what the API "
    "tells: pods of a node that fell silent are ready until the node controller has noticed.",
    example=f'minReady: {{{WEB}, count: "50%", when: always}}',
    troubles=(
        Trouble.REPLICAS,
        Trouble.TAKEN,
    ),
    watch=lambda asked: monitor_fact(asked, ReadyAtLeast(asked.layout, asked.workload, _amount(asked))),
    reads_nodes=mention_nothing,
    typed_fields=_COUNTED,
    default_when="always",
    is_provable_alone=True,
    asks_of_each_pod=counts_in_the_end,
)
MIN_REPLICAS = IntentKind(
    id="S002",
    key="minReplicas",
    category="numbers",
    text="At least `count` pods exist, terminating ones aside.",
    kivi="checkMinReplicas (`count` is the autoscaler's "
    "minimum, or spec.replicas), checkExpReplicas (`expReplicas` is the count).",
    claim=lambda intent, who, when: f"{who} has at least {intent.count} pods, {when}",
    broken_by="A reachable state with fewer pods that do not terminate: somebody scaled too far down, or pods are not "
    "replaced.",
    example=f"minReplicas: {{{WEB}, count: 2}}",
    troubles=(
        Trouble.REPLICAS,
        Trouble.TAKEN,
    ),
    watch=lambda asked: monitor_fact(asked, ReplicasAtLeast(asked.layout, asked.workload, _amount(asked))),
    reads_nodes=mention_nothing,
    typed_fields=_COUNTED,
    default_when="always",
    aliases=("checkMinReplicas", "checkExpReplicas"),
    is_provable_alone=True,
    asks_of_each_pod=counts_in_the_end,
)
MAX_REPLICAS = IntentKind(
    id="S003",
    key="maxReplicas",
    category="numbers",
    text="At most `count` pods exist, terminating ones aside.",
    claim=lambda intent, who, when: f"{who} has at most {intent.count} pods, {when}",
    broken_by="A reachable state with more pods, from the very first one on: an autoscaler runs away, or a rollout "
    "surges.",
    example=f"maxReplicas: {{{WEB}, count: 6}}",
    troubles=(Trouble.REPLICAS,),
    watch=lambda asked: monitor_fact(
        asked, ReplicasAtMost(asked.layout, asked.workload, _amount(asked)), is_bound=True
    ),
    reads_nodes=mention_nothing,
    typed_fields=_COUNTED,
    default_when="always",
    is_upper_bound=True,
    is_provable_alone=True,
)
MAX_NODES = IntentKind(
    id="S006",
    key="maxNodes",
    category="numbers",
    text="At most `count` of these nodes exist.",
    claim=lambda intent, who, when: f"at most {intent.count} matching nodes exist",
    broken_by="More nodes than allowed, of the input or made by the cluster autoscaler.",
    example="maxNodes: {count: 6, nodes: {matchLabels: {pool: web}}}",
    troubles=(Trouble.REPLICAS,),
    watch=_nodes,
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.NUMBER, IntentField.NODES, IntentField.WHEN),
    default_when="always",
    targets=Targets.NONE,
    is_upper_bound=True,
)
MAX_POD_OBJECTS = IntentKind(
    id="S007",
    key="maxPodObjects",
    category="numbers",
    text="At most `count` pod objects exist, of any phase or of `phases`.",
    claim=lambda intent, who, when: (
        f"{who} has at most {intent.count} Pod objects, failed and terminating ones included, {when}"
    ),
    broken_by="More Pod objects than allowed, failed and terminating ones included: a loop that leaves dead pods "
    "behind.",
    example=f"maxPodObjects: {{{WEB}, count: 20, phases: [Failed]}}",
    troubles=(Trouble.REPLICAS,),
    watch=_pod_objects,
    reads_nodes=mention_nothing,
    typed_fields=(IntentField.TARGET, IntentField.NUMBER, IntentField.PHASES, IntentField.WHEN),
    default_when="always",
    targets=Targets.WHOLE,
    is_upper_bound=True,
)
