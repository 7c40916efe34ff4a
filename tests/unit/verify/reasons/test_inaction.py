"""Every rule by which a loop leaves things as they are: each in a small cluster where it keeps it from helping."""

from __future__ import annotations

import pytest

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.cluster.loops.inaction import Rule
from kubeproof.verify.explained import Inaction
from kubeproof.verify.reasons import idle_rules
from kubeproof.verify.reasons.idle_rules import list_rules
from tests.unit.verify.inputs import model_of, node, only, scenario, verified, web

T = "Deployment/shop/web"
READY = f"{{minReady: {{target: {T}, count: 2, when: eventuallyAlways}}}}"
BOTH = "{minReady: {target: StatefulSet/shop/db, count: 2, when: eventuallyAlways}}"
PLACED = "{placement: {Deployment/shop/web: {n1: 1}}}"
GONE = "{nodeFailure: {recovers: false}}"
BUDGET = """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}, namespace: shop}}
spec: {{{amount}, selector: {{matchLabels: {{app: web}}}}}}
"""
HPA = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: {name}, namespace: shop}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  minReplicas: 1
  maxReplicas: 4
  metrics: [{{type: Resource, resource: {{name: {metric}, target: {{type: Utilization, averageUtilization: 50}}}}}}]
  {more}
"""
STATEFUL = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: main, resources: {requests: {cpu: "1"}}}]
"""
JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: shop}
spec:
  backoffLimit: 0
  template:
    spec: {restartPolicy: Never, containers: [{name: main}]}
"""
LONELY = """apiVersion: v1
kind: Pod
metadata: {name: lonely, namespace: shop}
spec: {containers: [{name: main}]}
"""
QUOTA = """apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: shop}
spec: {hard: {pods: "1"}}
"""
FOREVER = "tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}]"
RECREATE = web(1).replace("  selector:", "  strategy: {type: Recreate}\n  selector:", 1)
HIGH = """apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
"""


def zone(name: str, zone: str) -> str:
    """A Node in a zone."""
    label = f"topology.kubernetes.io/zone: {zone}"
    return node(name).replace(f"hostname: {name}}}", f"hostname: {name}, {label}}}")


def fewest(count: int) -> str:
    """At least so many replicas in the long run."""
    return f"{{minReplicas: {{target: {T}, count: {count}, when: eventuallyAlways}}}}"


HELD_UP = {  # rule: the input that shows it, and words of what is said
    "rollout-keeps-available": (
        (node("n1", cpu="1"), web(1), scenario("{rolloutCompletes: {}}", events="{rollout: {}}", start="deployed")),
        "2 replicas - 1 that must stay available (maxUnavailable 25% of 1 is 0) - 1 new that is not available = 0",
    ),
    "rollout-paused": (
        (
            node("n1"),
            web(1).replace("  replicas:", "  paused: true\n  replicas:", 1),
            scenario(
                "{rolloutCompletes: {}}", events="{rollout: {}}", start="{placement: {Deployment/shop/web: {n1: 1}}}"
            ),
        ),
        "is paused",
    ),
    "recreate-waits-for-old-pods": (
        (
            node("n1"),
            node("n2"),
            RECREATE,
            scenario("{rolloutCompletes: {}}", events=f"{GONE}, {{rollout: {{}}}}", start="deployed"),
        ),
        "creates no new pod before all old ones are gone: 1 of them still terminating",
    ),
    "silent-kubelet": (
        (
            node("n1"),
            node("n2"),
            STATEFUL,
            scenario(
                "{minReady: {target: StatefulSet/shop/db, count: 2, when: eventuallyAlways}}",
                events=GONE,
                start="deployed",
            ),
        ),
        "is silent, so that nobody confirms the end of db-",
    ),
    "ordinal-still-there": (
        (
            node("n1"),
            node("n2"),
            STATEFUL,
            scenario(
                "{minReady: {target: StatefulSet/shop/db, count: 2, when: eventuallyAlways}}",
                events=GONE,
                start="deployed",
            ),
        ),
        "while the old one is still terminating",
    ),
    "ordinal-waits-for-lower": (
        (
            node("n1"),
            STATEFUL,
            scenario(BOTH, events="{neverReady: {target: StatefulSet/shop/db}}"),
        ),
        "waits until db-0 is ready before it goes on to db-1 (OrderedReady)",
    ),
    "endless-toleration": (
        (node("n1"), node("n2"), web(2, more=FOREVER), scenario(READY, events=GONE, start="deployed")),
        "tolerate node.kubernetes.io/unreachable:NoExecute without end (no tolerationSeconds)",
    ),
    "zone-stops-eviction": (
        (
            *(zone(f"n{number}", "a") for number in range(1, 5)),
            web(4, cpu="2"),
            scenario(
                f"{{minReady: {{target: {T}, count: 2, when: eventuallyAlways}}}}",
                events="{nodeFailure: {max: 3, recovers: false, together: true}}",
                start="deployed",
            ),
        ),
        "3 of 4 nodes of a are not ready (75 % >= 55 %",
    ),
    "no-node-fits": (
        (node("n1"), web(3), scenario(f"{{schedulable: {{target: {T}}}}}")),
        "finds no node for web-3: NodeResourcesFit refuses n1 (cpu: 1000m asked for, 0m of 2000m free)",
    ),
    "preempts-nobody": (
        (node("n1", cpu="1"), web(1), web(1, name="other"), scenario(f"{{schedulable: {{target: {T}}}}}")),
        "its priority is 0, and no pod has a lower one",
    ),
    "admission-refuses": (
        (node("n1"), QUOTA, web(2), scenario(READY)),
        "tries in vain: 1 pod(s) cannot be created: ",
    ),
    "kubelet-rejects": (
        (node("n1"), web(3, more="nodeName: n1"), scenario("{settles: {}}")),
        "rejects 1 pod(s) that name it (spec.nodeName): cpu 1000m asked for, 0m of 2000m free",
    ),
    "budget-refuses": (
        (
            node("n1"),
            node("n2"),
            web(2),
            BUDGET.format(name="all", amount="minAvailable: 60%"),
            scenario("{drainCompletes: {}}", events="{drain: {}}", start="deployed"),
        ),
        "needs 2 healthy pods and has 2 (minAvailable 60% of 2 rounds up to 2)",
    ),
    "two-budgets": (
        (
            node("n1"),
            node("n2"),
            web(2),
            BUDGET.format(name="one", amount="maxUnavailable: 1"),
            BUDGET.format(name="two", amount="maxUnavailable: 1"),
            scenario("{drainCompletes: {}}", events="{drain: {}}", start="deployed"),
        ),
        "2 budgets match (one, two), the eviction API supports one",
    ),
    "no-budget": (
        (
            node("n1"),
            node("n2"),
            web(2),
            scenario(READY.replace(", when: eventuallyAlways", ""), events="{drain: {}}", start="deployed"),
        ),
        "no PodDisruptionBudget selects those of Deployment/shop/web",
    ),
    "lost-with-their-node": (
        (node("n1"), web(2), scenario(READY.replace(", when: eventuallyAlways", ""), events=GONE, start="deployed")),
        "takes 2 of 2 ready pods of Deployment/shop/web out of service at once: 2 on n1",
    ),
    "budget-allows": (
        (
            node("n1"),
            node("n2"),
            node("n3"),
            web(3),
            BUDGET.format(name="half", amount="maxUnavailable: 50%"),
            scenario(
                READY.replace(", when: eventuallyAlways", ""),
                events="{drain: {concurrent: 2, max: 2}}",
                start="deployed",
            ),
        ),
        "needs 1 of 3 (maxUnavailable 50% of 3 rounds up to 2)",
    ),
    "nobody-replaces-it": (
        (
            node("n1"),
            LONELY,
            scenario(
                "{minReplicas: {target: Pod/shop/lonely, count: 1}}", events="{delete: {target: Pod/shop/lonely}}"
            ),
        ),
        "creates no other pod for Pod/shop/lonely: no controller owns it",
    ),
    "size-as-written": (
        (node("n1"), web(1), scenario(fewest(2))),
        "keeps 1 pod(s) of Deployment/shop/web, as spec.replicas says",
    ),
    "not-ready-yet": (
        (node("n1"), web(2), scenario(READY, events=f"{{neverReady: {{target: {T}}}}}")),
        "does not find web-1, web-2 ready",
    ),
    "job-forgives-so-many": (
        (
            node("n1"),
            JOB,
            scenario("{completes: {target: Job/shop/load}}", events="{podCrash: {target: Job/shop/load}}"),
        ),
        "has given up: it forgives 0 failure(s)",
    ),
    "autoscaler-disabled": (
        (node("n1"), web(0), HPA.format(name="web", metric="cpu", more=""), scenario(fewest(1))),
        "is disabled: Deployment/shop/web has 0 replicas",
    ),
    "autoscaler-ambiguous": (
        (
            node("n1"),
            web(1),
            HPA.format(name="one", metric="cpu", more=""),
            HPA.format(name="two", metric="cpu", more=""),
            scenario(fewest(3)),
        ),
        "AmbiguousSelector",
    ),
    "autoscaler-no-metric": (
        (node("n1"), web(1), HPA.format(name="web", metric="memory", more=""), scenario(fewest(2))),
        "no metric gives a proposal (container main of Deployment/shop/web requests no memory)",
    ),
    "autoscaler-within-tolerance": (
        (
            node("n1"),
            web(2),
            HPA.format(name="web", metric="cpu", more=""),
            scenario(fewest(3), events=f"{{cpuChange: {{target: {T}, levels: [52%]}}}}"),
        ),
        "ratio 1.04 is within tolerance, stays at 2",
    ),
    "autoscaler-held-by-window": (
        (
            node("n1"),
            web(1),
            HPA.format(name="web", metric="cpu", more="behavior: {scaleUp: {selectPolicy: Disabled}}"),
            scenario(fewest(2), events=f"{{cpuChange: {{target: {T}, levels: [100%]}}}}"),
        ),
        "scaleUp is disabled: stays at 1",
    ),
}


def rules_of(documents: tuple[str, ...]) -> dict[str, Inaction]:
    """The entries of the one violation, by rule."""
    trace = only(verified(*documents)).trace
    assert trace is not None
    return {one.rule: one for one in trace.inaction}


@pytest.mark.parametrize("rule", HELD_UP)
def test_who_does_not_help_says_by_which_rule(rule):
    documents, words = HELD_UP[rule]
    found = rules_of(documents)

    assert rule in found, sorted(found)
    assert words in found[rule].says


def change_of(rule: str, *documents: str) -> str:
    """What an entry says is to be changed."""
    return rules_of(documents)[rule].change


def test_a_budget_in_percent_is_told_with_the_fewest_pods_that_let_one_go():
    drained = scenario("{drainCompletes: {}}", events="{drain: {}}", start="deployed")
    told = change_of("budget-refuses", node("n1"), web(1), BUDGET.format(name="b", amount="minAvailable: 80%"), drained)

    assert told.startswith("write maxUnavailable: 1 in PodDisruptionBudget/shop/b")
    assert told.endswith("or run at least 5 pods, of which it lets one go")


def test_the_autoscaler_that_sets_the_number_of_pods_is_named_with_its_line():
    drained = scenario("{drainCompletes: {}}", events="{drain: {}}", start="deployed")
    scaled = (web(1), HPA.format(name="size", metric="cpu", more=""), BUDGET.format(name="b", amount="minAvailable: 1"))
    told = change_of("budget-refuses", node("n1"), *scaled, drained)

    assert "run at least 2 pods, of which it lets one go: minReplicas of HorizontalPodAutoscaler/shop/size" in told


def test_a_budget_for_a_single_pod_that_drains_take_is_not_advised():
    drained = scenario(f"{{minReady: {{target: {T}, count: 1}}}}", events="{drain: {}}", start="deployed")
    told = change_of("no-budget", node("n1"), node("n2"), web(1), drained)

    assert told.startswith(f"run at least 2 pods of {T}")


def test_a_paused_deployment_has_no_pods_because_it_is_paused():
    paused = web(2).replace("replicas: 2", "replicas: 2\n  paused: true")
    found = rules_of((node("n1"), paused, scenario(READY)))

    assert found["rollout-paused"].says == f"creates no ReplicaSet for {T}: spec.paused is true"
    assert found["rollout-paused"].change == f"set spec.paused of {T} to false"


def test_a_claim_that_does_not_exist_is_to_be_created_and_nothing_else_is_advised():
    volumes = "volumes: [{name: d, persistentVolumeClaim: {claimName: nothere}}]\n      containers:"
    found = only(verified(node("n1"), node("n2"), STATEFUL.replace("containers:", volumes), scenario(BOTH))).explanation

    assert found is not None
    missing = 'persistentvolumeclaim "nothere" not found'
    assert found.change == (
        f"Create the claim that StatefulSet/shop/db mounts ({missing}), or let it name one that exists (in.yaml:23)."
    )


def test_a_node_with_local_storage_is_kept_and_no_group_has_more_for_pods_that_wait():
    hungry = web(3, more="volumes: [{name: scratch, emptyDir: {}}]")
    groups = "intents:\n  - {minReady: {target: Deployment/shop/web, count: 3, when: eventuallyAlways}}"
    asked = scenario("{settles: {}}").replace("intents: [{settles: {}}]", groups)
    autoscaled = f"{asked}  controllers: {{clusterAutoscaler: {{groups: [{{name: g, like: n1, min: 1, max: 1}}]}}}}\n"
    found = rules_of((node("n1"), hungry, autoscaled))

    assert "g (1 of at most 1): is at its maximum" in found["no-group-helps"].says
    assert found["no-group-helps"].change == "raise the maximum of g"


def test_a_node_is_kept_for_a_pod_with_local_storage():
    scratch = web(1, cpu="100m", more="volumes: [{name: scratch, emptyDir: {}}]")
    asked = scenario("{maxNodes: {count: 1}}", start="{placement: {Deployment/shop/web: {n2: 1}}}")
    autoscaled = f"{asked}  controllers: {{clusterAutoscaler: {{groups: [{{name: g, like: n1, min: 1, max: 2}}]}}}}\n"
    found = rules_of((node("n1"), node("n2"), scratch, autoscaled))

    assert found["node-is-kept"].says == (
        "keeps node n2: a pod of Deployment/shop/web may not be moved: it has local storage"
    )


def test_pods_of_higher_priority_come_first():
    first = web(1, name="first", more="priorityClassName: high")
    asked = scenario(f"{{minReady: {{target: {T}, count: 1, when: eventuallyAlways}}}}")
    found = rules_of((node("n1", cpu="1"), HIGH, first, web(1), asked))

    assert found["preempts-nobody"].numbers == (("priority", 0),)


def test_room_is_kept_for_a_pod_that_is_nominated():
    waits = "{ltl: {name: waits, formula: 'G !p', where: {p: \"pending('Deployment/shop/web') >= 1\"}}}"
    first = web(1, name="first", more="priorityClassName: high")
    comes = scenario(waits, events="{create: {target: Deployment/shop/first}}", start="deployed")
    found = rules_of((node("n1", cpu="1"), HIGH, first, web(1), comes))

    assert found["room-is-nominated"].says == "keeps room on n1 for 1 of Deployment/shop/first, nominated to it"


def test_the_queue_tries_pods_of_higher_priority_first():
    first = web(1, name="first", more="priorityClassName: high")
    model = model_of(node("n1"), HIGH, first, web(1), scenario("{settles: {}}"))
    (state,) = model.initial()
    while not all(state.unbound):
        state = next(step.target for step in model.steps(state) if step.actor.kind != ActorKind.SCHEDULER)
    (low,) = (loop for loop in model.plan.controllers if loop.name == "scheduler web")

    (idle,) = low.why_not(model.show_to(low, state))

    assert idle.says == "tries pods of Deployment/shop/first (priority 100) before those of Deployment/shop/web (0)"
    assert not low.act(model.show_to(low, state))  # as it says


def test_rules_are_known_by_their_keys_and_all_of_them_can_be_explained():
    rules = list_rules()
    declared = [one for module in idle_rules.MODULES for one in vars(module).values() if isinstance(one, Rule)]

    assert len({one.key for one in rules}) == len(rules)
    assert {one.key for one in declared} == {one.key for one in rules}
    assert all(one.text.endswith(".") and one.upstream and one.helps for one in rules)
