"""Steps by name as sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby, zip_longest
from typing import Any

from kubeproof.cluster.jobs import COMPLETE, FAILED_FOR_GOOD, FAILURE_TARGET, REPLACED, SUCCESS_MET
from kubeproof.cluster.loops.actions import Action, EvictPods, Tick, Verb
from kubeproof.cluster.loops.meanings import ENDS, About, write_out
from kubeproof.cluster.loops.node_verbs import NodeVerb
from kubeproof.cluster.objects import Setup
from kubeproof.model.by_name.state import Concrete, State, Transition
from kubeproof.values import complete
from kubeproof.verify.result import Change, TraceStep


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
    word, *arguments = concrete
    verb = _find_verb(word)
    if isinstance(verb, NodeVerb):
        return verb.meaning.sentence.format(node=arguments[0])
    if verb == Verb.SET_REPLICAS:
        return _resize(setup, state, *arguments)  # type: ignore[arg-type]
    if verb in KUBELET_VERBS:
        return _kubelet(verb, *arguments)  # type: ignore[arg-type]
    if verb in SENTENCES:
        return SENTENCES[verb](*arguments)
    return write_out(verb.recorded.sentence, arguments, _pods)


def _find_verb(word: object) -> Verb | NodeVerb:
    return Verb(str(word)) if str(word) in _WORDS else NodeVerb(str(word))


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
    verb, first = _find_verb(concrete[0]), concrete[1] if len(concrete) > 1 else ""
    about = About.NODE if isinstance(verb, NodeVerb) else verb.recorded.about
    match about:
        case About.NODE:
            return f"Node/{first}"
        case About.WORKLOAD:
            return str(first)
        case About.POD:
            return _pod_ref(namespace, first[0] if isinstance(first, tuple) else first)
        case About.NOTHING:
            return ""


def _changes(concrete: Concrete, namespace: str) -> list[Change]:
    word, *arguments = concrete
    verb = _find_verb(word)
    if isinstance(verb, NodeVerb):
        return [Change(f"Node/{arguments[0]}", "", str(verb))]
    if verb.recorded.changes is None:
        return CHANGES[verb](*arguments)
    found = []
    for of, told in groupby(verb.recorded.changes, key=lambda changed: changed[0]):
        rows = [(field, write_out(value, arguments, _pods)) for _, field, value in told]
        objects = (
            [write_out(of, arguments, _pods)]
            if isinstance(of, str)
            else [_pod_ref(namespace, name) for name in _as_names(arguments[of])]
        )
        found += [Change(one, *row) for one in objects for row in rows]
    return found


def _as_names(argument: object) -> tuple[object, ...]:
    return argument if isinstance(argument, tuple) else (argument,)


def _change_condition(ref: str, condition: int) -> list[Change]:
    name = CONDITION_NAMES.get(condition)
    return [Change(ref, f"condition {name}", "True")] if name else []


def _change_preempted(node: str, victims: tuple[str, ...], ref: str, homes: tuple[str, ...]) -> list[Change]:
    gone = [Change(_pod_ref(*one), *ENDS) for one in zip(homes, victims, strict=True)]
    return [*gone, Change(f"a pod of {ref}", "status.nominatedNodeName", node)]


_WORDS = frozenset(str(verb) for verb in Verb)
# Sentences and changes that a template cannot tell.
SENTENCES: Mapping[Verb, Callable[..., str]] = {
    Verb.SET_CONDITION: lambda ref, condition: f"{CONDITIONS[condition]} {ref}",
    Verb.KEEP: _describe_kept,
    Verb.TEND: _describe_tended,
    Verb.BIND: lambda pod, node, *how: f"binds {pod} to {node}{_how_bound(how)}",
    Verb.PREEMPT: _preemption,
}
CHANGES: Mapping[Verb, Callable[..., list[Change]]] = complete(
    [verb for verb in Verb if verb.recorded.changes is None],
    {
        Verb.SET_CONDITION: _change_condition,
        Verb.PREEMPT: _change_preempted,
        Verb.REMEMBER: lambda *_: [],
    },
)
complete(
    [verb for verb in Verb if not verb.recorded.sentence],
    dict.fromkeys((*SENTENCES, *KUBELET_VERBS, Verb.SET_REPLICAS, Verb.REMEMBER)),
)
