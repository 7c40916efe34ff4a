"""Steps by name as sentences."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from kubeproof.cluster.jobs import COMPLETE, FAILED_FOR_GOOD, FAILURE_TARGET, REPLACED, SUCCESS_MET
from kubeproof.cluster.loops.control import Action, EvictPods, Tick
from kubeproof.cluster.loops.node_verbs import NodeVerb
from kubeproof.cluster.objects import Setup
from kubeproof.model.by_name.state import Concrete, State, Transition
from kubeproof.model.by_name.verbs import Verb
from kubeproof.values import complete
from kubeproof.verify.result import REMOVED, SET, Change, TraceStep


def trace_step(setup: Setup, state: State, step: Transition, time_s: int, why: tuple[str, ...]) -> TraceStep:
    """A step with the sentence, the object and the changes a reader wants."""
    done = zip_longest(step.decision.actions, step.concrete)  # time at rest has no action of its own
    shown = [(c, _namespace(setup, action)) for action, c in done if c is not None and c[0] != Verb.REMEMBER]
    sentences = [_sentence(setup, state, concrete) for concrete, _ in shown]
    return TraceStep(
        actor=step.controller,
        action="; ".join(sentences) or "happens",
        object=_object(*shown[0]) if shown else "",
        changes=tuple(change for concrete, namespace in shown for change in _changes(concrete, namespace)),
        time_s=time_s,
        why=why,
        code=step.concrete,
    )


def measure_elapsed(step: Transition) -> int:
    """Seconds that pass by a step."""
    return sum(action.seconds for action in step.decision.actions if isinstance(action, Tick))


def _namespace(setup: Setup, action: Action | None) -> str:
    """The namespace of the pods an action is about; a pod's name alone does not tell it."""
    number = action.losses[0][0] if isinstance(action, EvictPods) else getattr(action, "workload", None)
    return "" if number is None else setup.workloads[number].namespace


def _pod_ref(namespace: str, name: object) -> str:
    return f"Pod/{namespace}/{str(name).rpartition('/')[2]}"


def _list_names(names: tuple[str, ...]) -> str:
    if len(names) <= 4:
        return ", ".join(names)
    return f"{', '.join(names[:3])} and {len(names) - 3} more"


def _sentence(setup: Setup, state: State, concrete: Concrete) -> str:
    verb, *rest = concrete
    arguments: Any = tuple(rest)
    match verb:
        case Verb.SET_DESIRED:
            return f"sets spec.replicas of {arguments[0]} to {arguments[1]}"
        case Verb.SET_REPLICAS:
            return _resize(setup, state, *arguments)
        case Verb.CREATE_OBJECT:
            return f"creates {arguments[0]}"
        case Verb.DELETE_OBJECT:
            return f"deletes {arguments[0]}"
        case Verb.CREATE:
            return f"creates {_pods(arguments[1])}"
        case Verb.KEEP:
            return _describe_kept(*arguments)
        case Verb.ARRIVE:
            return f"creates {_pods(arguments[2])} directly on {arguments[1]} (spec.nodeName)"
        case Verb.DELETE:
            return f"deletes {_pods(arguments[0])}"
        case Verb.EVICT:
            return f"evicts {_pods(arguments[1])} from {arguments[0]} (NoExecute taint not tolerated any longer)"
        case Verb.BIND:
            return f"binds {arguments[0]} to {arguments[1]}{_how_bound(arguments[2:])}"
        case Verb.PREEMPT:
            return _preemption(*arguments)
        case Verb.UNNOMINATE:
            return f"gives up {arguments[0]} for a pod of {arguments[1]}, which was nominated to it"
        case Verb.CRASH:
            return f"a container of pod {arguments[1]} on {arguments[0]} exits"
        case Verb.UNROUTE:
            return f"are told: no more traffic to {_pods(arguments[1])} on {arguments[0]}"
        case Verb.EVICT_PODS:
            return f"evicts {_pods(arguments[1])} from {arguments[0]}"
        case Verb.SET_CONDITION:
            return f"{CONDITIONS[arguments[1]]} {arguments[0]}"
        case Verb.TEND:
            return _describe_tended(*arguments)
        case Verb.SET_CURRENT:
            return f"has updated {arguments[0]} to revision {arguments[1] + 1}"
        case Verb.SET_TEMPLATE:
            return f"gives {arguments[0]} the pod template of revision {arguments[1] + 1}"
        case Verb.REST:
            return "nothing is due any more; time passes"
        case Verb.TICK:
            return f"{arguments[0]} s pass"
        case Verb.START | Verb.READY | Verb.COMPLETE | Verb.FINISH:
            return _kubelet(Verb(str(verb)), *arguments)
    return NodeVerb(str(verb)).meaning.sentence.format(node=arguments[0])


CONDITIONS = {
    FAILURE_TARGET: "begins to fail",
    FAILED_FOR_GOOD: "marks Failed",
    SUCCESS_MET: "marks SuccessCriteriaMet",
    COMPLETE: "marks Complete",
    REPLACED: "gives up",
}
CONDITION_NAMES = {
    FAILURE_TARGET: "FailureTarget",
    FAILED_FOR_GOOD: "Failed",
    SUCCESS_MET: "SuccessCriteriaMet",
    COMPLETE: "Complete",
}
KUBELET_VERBS = (Verb.START, Verb.READY, Verb.COMPLETE, Verb.FINISH)
KUBELET_WORDS = complete(
    KUBELET_VERBS,
    {
        Verb.START: "starts",
        Verb.READY: "finds ready",
        Verb.COMPLETE: "reports the success of",
        Verb.FINISH: "ends",
    },
)
ENDING = ("deletionTimestamp", SET)
ABOUT_WORKLOADS = (
    *(Verb.SET_DESIRED, Verb.SET_REPLICAS, Verb.SET_TEMPLATE, Verb.SET_CURRENT, Verb.SET_CONDITION),
    *(Verb.CREATE_OBJECT, Verb.DELETE_OBJECT, Verb.CREATE, Verb.ARRIVE),
)


def _pods(names: tuple[str, ...]) -> str:
    return f"pod {names[0]}" if len(names) == 1 else f"{len(names)} pods: {_list_names(names)}"


def _resize(setup: Setup, state: State, ref: str, replicas: int) -> str:
    index = next(i for i, workload in enumerate(setup.workloads) if workload.ref == ref)
    before = state.specs[index].replicas
    which = ref if setup.workloads[index].owner else f"the ReplicaSet of {ref}"
    if before < 0:
        return f"creates {which} with {replicas} replicas"
    return f"scales {which} from {before} to {replicas}"


def _preemption(node: str, victims: tuple[str, ...], ref: str, _: tuple[str, ...]) -> str:
    if not victims:
        return f"nominates {node} for a pod of {ref}: what it needs there is already terminating"
    return f"preempts {_pods(victims)} on {node} to make room for a pod of {ref}, and nominates the node for it"


def _kubelet(verb: Verb, node: str, names: tuple[str, ...], rejected: tuple[str, ...]) -> str:
    parts = []
    if names:
        parts.append(f"of {node} {KUBELET_WORDS[verb]} {_pods(names)}")
    if rejected:
        parts.append(f"of {node} rejects {_pods(rejected)}: it does not fit or may not run here")
    return "; ".join(parts)


def _describe_kept(node: str, created: tuple[str, ...], gone: tuple[str, ...]) -> str:
    parts = [f"creates {_pods(created)} for node {node}"] if created else []
    parts += [f"deletes {_pods(gone)}"] if gone else []
    return " and ".join(parts)


def _describe_tended(node: str, ended: tuple[int, int], gone: tuple[str, ...]) -> str:
    succeeded, failed = ended
    parts = [f"counts {succeeded} pod(s) on {node} as succeeded"] if succeeded else []
    parts += [f"counts {failed} pod(s) on {node} as failed"] if failed else []
    parts += [f"deletes {_pods(gone)}"] if gone else []
    return " and ".join(parts)


def _how_bound(told: tuple[Any, ...]) -> str:
    """That the pod was nominated, and how long its start takes where that was drawn."""
    starts = "".join(f", where it takes {word} s to start" for word in told if isinstance(word, int))
    return f"{', nominated before' if 'nominated' in told else ''}{starts}"


def _object(concrete: Concrete, namespace: str) -> str:
    verb, *rest = concrete
    arguments: Any = tuple(rest)
    if verb in ABOUT_WORKLOADS:
        return str(arguments[0])
    if verb == Verb.BIND:
        return _pod_ref(namespace, arguments[0])
    if verb == Verb.DELETE:
        return _pod_ref(namespace, arguments[0][0])
    return "" if verb in (Verb.TICK, Verb.REST) else f"Node/{arguments[0]}"


MOVES = complete(
    KUBELET_VERBS,
    {
        Verb.START: ("status.phase", "Running"),
        Verb.READY: ("Ready", "True"),
        Verb.COMPLETE: ("status.phase", "Succeeded"),
        Verb.FINISH: ("", REMOVED),
    },
)


def _changes(concrete: Concrete, namespace: str) -> list[Change]:
    verb, *rest = concrete
    arguments: Any = tuple(rest)

    def pods(names: Any, *what: str) -> list[Change]:
        return [Change(_pod_ref(namespace, name), *what) for name in names]

    def make(names: Any, *where: str) -> list[Change]:
        return [change for name in names for what in (("", "created"), where) for change in pods([name], *what)]

    match verb:
        case Verb.SET_DESIRED:
            return [Change(arguments[0], "spec.replicas", f"{arguments[1]}")]
        case Verb.SET_REPLICAS:
            return [Change(f"ReplicaSet of {arguments[0]}", "spec.replicas", f"{arguments[1]}")]
        case Verb.CREATE_OBJECT:
            return [Change(arguments[0], "", "created")]
        case Verb.DELETE_OBJECT:
            return [Change(arguments[0], "", "deleted")]
        case Verb.CREATE:
            return pods(arguments[1], "", "created")
        case Verb.KEEP:
            return [*make(arguments[1], "spec.affinity", f"node {arguments[0]}"), *pods(arguments[2], *ENDING)]
        case Verb.ARRIVE:
            return make(arguments[2], "spec.nodeName", arguments[1])
        case Verb.DELETE:
            return pods(arguments[0], *ENDING)
        case Verb.EVICT | Verb.EVICT_PODS:
            return pods(arguments[1], *ENDING)
        case Verb.BIND:
            return pods([arguments[0]], "spec.nodeName", arguments[1])
        case Verb.TEND:
            return pods(arguments[2], *ENDING)
        case Verb.SET_CONDITION:
            name = CONDITION_NAMES.get(arguments[1])
            return [Change(arguments[0], f"condition {name}", "True")] if name else []
        case Verb.START | Verb.READY | Verb.COMPLETE | Verb.FINISH:
            return pods(arguments[1], *MOVES[Verb(str(verb))]) + pods(arguments[2], "status.phase", "Failed")
        case Verb.CRASH:
            return pods([arguments[1]], "Ready", "False") + pods([arguments[1]], "restartCount", "+1")
        case Verb.UNROUTE:
            return pods(arguments[1], "traffic", "none")
        case Verb.SET_CURRENT:
            return [Change(arguments[0], "status.currentRevision", f"revision {arguments[1] + 1}")]
        case Verb.PREEMPT:
            gone = [Change(_pod_ref(*one), *ENDING) for one in zip(arguments[3], arguments[1], strict=True)]
            return [*gone, Change(f"a pod of {arguments[2]}", "status.nominatedNodeName", arguments[0])]
        case Verb.UNNOMINATE:
            return [Change(f"a pod of {arguments[1]}", "status.nominatedNodeName", "''")]
        case Verb.SET_TEMPLATE:
            return [Change(arguments[0], "spec.template", f"revision {arguments[1] + 1}")]
        case Verb.TICK | Verb.REST:
            return []
    return [Change(f"Node/{arguments[0]}", "", str(NodeVerb(str(verb))))]
