"""A violation in three sentences: what happens, why nobody helps, and what to change. Made from its run alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.actions import NodeChange, SetDesired, Verb
from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.cluster.loops.control import Role
from kubeproof.cluster.loops.inaction import Field, pod_field
from kubeproof.cluster.loops.node_verbs import PANIC, RECOVER
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.objects import HOSTNAME
from kubeproof.controllers.scheduler.plugins.volumes import VOLUME_RESTRICTIONS
from kubeproof.controllers.scheduler.protocol import Judging
from kubeproof.controllers.scheduler.registry import INTER_POD_AFFINITY, filters_judging
from kubeproof.intents.catalogue import entry
from kubeproof.intents.facts.words import describe_found
from kubeproof.intents.monitor import NEVER, STEP, Monitor
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verify.counterexamples.replayer import Replayed
from kubeproof.verify.explained import Explanation, Inaction, Remedy, as_sentence, tell_changes
from kubeproof.verify.reasons.domains import count_by_domain
from kubeproof.verify.reasons.fights import Fight, find_fight
from kubeproof.verify.result import TraceStep

POLICY = "DeschedulerPolicy"
MOST_EVENTS = 3
MOST_REASONS = 3
MOST_CHANGES = 2
MOST_NUMBERS = 4  # lines of a loop's own arithmetic
# Which rules say most about why nobody helps, the first first; those that are not here come last, in their order.
TELLING = (
    "budget-refuses", "two-budgets", "admission-refuses", "rollout-keeps-available", "recreate-waits-for-old-pods",
    "rollout-paused", "ordinal-still-there", "silent-kubelet", "endless-toleration", "zone-stops-eviction",
    "ordinal-waits-for-lower", "kubelet-rejects", "no-node-fits", "no-group-helps", "too-many-unready",
    "room-is-nominated", "preempts-nobody", "autoscaler-disabled", "autoscaler-ambiguous", "autoscaler-no-metric",
    "autoscaler-at-its-bound", "autoscaler-held-by-window", "preemption-takes-lower", "no-budget",
    "lost-with-their-node", "budget-allows", "budget-not-asked", "split-by-node", "victims-by-rank",
    "recreate-takes-all", "rollout-takes-some", "job-forgives-so-many", "nobody-replaces-it", "size-as-written",
    "scores-decide", "only-pod", "no-pod-to-spare",
)  # fmt: skip
NAMES = {
    ActorKind.DEPLOYMENT: "the Deployment controller",
    ActorKind.REPLICA_SET: "the ReplicaSet controller",
    ActorKind.STATEFUL_SET: "the StatefulSet controller",
    ActorKind.DAEMON_SET: "the DaemonSet controller",
    ActorKind.JOB: "the Job controller",
    ActorKind.SCHEDULER: "the scheduler",
    ActorKind.KUBELET: "the kubelet",
    ActorKind.NODE_CONTROLLER: "the node lifecycle controller",
    ActorKind.TAINT_EVICTION: "taint eviction",
    ActorKind.DRAIN: "the drain",
    ActorKind.CLUSTER_AUTOSCALER: "the cluster autoscaler",
    ActorKind.DESCHEDULER: "the descheduler",
    ActorKind.GITOPS: "GitOps",
}
# Of these rules the first is all that matters: whatever others would do, it would be the same again.
ALONE = (
    "two-budgets", "nobody-replaces-it", "recreate-takes-all", "rollout-takes-some", "preemption-takes-lower",
    "only-pod", "no-pod-to-spare",
)  # fmt: skip
# Filters that an old pod may satisfy by going first.
MADE_WAY_FOR = (*filters_judging(Judging.ROOM, Judging.PODS), VOLUME_RESTRICTIONS)
DECIDES_SIZES = (ActorKind.HPA, ActorKind.DEPLOYMENT, ActorKind.GITOPS, ActorKind.VPA)


TAKES = (ActorKind.DESCHEDULER, ActorKind.CRON_JOB)


class Story:
    """A run that breaks an intent, with what is known of it."""

    def __init__(
        self,
        model: IndividualModel,
        monitor: Monitor,
        run: Replayed,
        told: Sequence[TraceStep],
        loop_start: int | None,
        inaction: Sequence[Inaction],
    ) -> None:
        """`told` are the steps in words; all of the run itself, without those that deploy the cluster."""
        self._model, self._monitor = model, monitor
        self._states: tuple[State, ...] = run.states
        self._steps: tuple[Transition, ...] = run.steps
        self._told = told
        self._all = inaction
        self._unplaced = [one for one in inaction if one.rule == "no-node-fits"]
        self._loop_start = loop_start
        self._inaction = sorted(inaction, key=lambda one: (self._is_idle_talk(one), _rank(one)))
        loop = [] if loop_start is None else list(zip(run.steps, told, strict=True))[loop_start:]
        self._fight = find_fight(model, loop)

    def tell(self) -> Explanation:
        """The three sentences."""
        changes = self._changes()
        return Explanation(as_sentence(self._happens()), self._why(), tell_changes(changes), changes)

    # -- what happens ---------------------------------------------------------------------------

    def _happens(self) -> str:
        return f"{self._describe_events()}{self._describe_outcome()}"

    def _describe_events(self) -> str:
        """What comes from outside, in the words of the trace."""
        pairs = list(zip(self._steps, self._told, strict=True))
        found: dict[str, int] = {}
        for step, told in pairs:
            if told.actor.kind == ActorKind.EVENT and not _is_consequence(step):
                words = f"{told.actor} ({told.action})"
                found[words] = found.get(words, 0) + 1
        if not found:
            return "without any event, "
        names = [words if count == 1 else f"{words}, {count} times" for words, count in found.items()]
        more = f" and {len(names) - MOST_EVENTS} more" if len(names) > MOST_EVENTS else ""
        return f"after {' and '.join(names[:MOST_EVENTS])}{more}, "

    def _describe_outcome(self) -> str:
        intent = self._monitor.intent
        who = intent.target or "the cluster"
        if self._fight is not None:
            return self._fight.says
        if self._monitor.kind == STEP:
            return _tell(self._told[-1])
        found = self._numbers()
        ending = ", for ever" if self._loop_start is not None else self._describe_rest()
        if found:
            return f"{who} has {found}{ending}"
        claim = entry(intent.key).claim(intent, who, "").rstrip(", ")
        return f"this is not so{ending}: {claim}"

    def _describe_rest(self) -> str:
        """That nothing acts any more, unless the violation is over in a moment."""
        is_at_rest = self._monitor.kind != NEVER and self._model.is_stable(self._states[-1])
        return ", and no loop changes that any more" if is_at_rest else ""

    def _numbers(self) -> str:
        fact = self._monitor.fact
        if fact is None:
            return ""
        last = self._states[-1]
        counts = count_by_domain(self._model, last, self._monitor)
        found = describe_found(fact, self._model.show_to_fact(fact, last))
        return f"{found} ({counts})" if found and counts else found

    # -- why nobody helps -----------------------------------------------------------------------

    def _why(self) -> tuple[str, ...]:
        reasons = [f"{_subject(one)} {one.says}" for one in self._inaction]
        deeds = list(self._deeds())
        room = max(0, MOST_REASONS - len(deeds))
        shown = dict.fromkeys((*deeds, *reasons[:room]))
        return tuple(shown) or ("no loop has anything left to do here, and none says why",)

    def _deeds(self) -> Iterator[str]:
        """The numbers by which those decided whose steps matter: writers of a loop, and the last who took or sized."""
        for step in dict.fromkeys(self._find_deeds()):
            yield f"{_tell(step)}, because {'; '.join(step.why[:MOST_NUMBERS])}"

    def _find_deeds(self) -> Iterator[TraceStep]:
        if self._fight is not None:
            yield from (one for one in self._fight.writers if one.why and _has_arithmetic(one))
            return
        if self._monitor.kind == STEP:
            yield from (one for one in self._told[-1:] if one.why)
        elif self._monitor.kind == NEVER or self._monitor.intent.key == "maxReplicas":
            yield from self._find_decider()

    def _find_decider(self) -> Iterator[TraceStep]:
        """The last step by which pods of the violation were taken, or their number was set."""
        for step, told in zip(reversed(self._steps), reversed(self._told), strict=True):
            is_size = any(isinstance(action, SetDesired) for action in step.decision.actions)
            is_taken = Verb.PREEMPT in told.verbs or told.actor.kind in TAKES
            if told.why and (is_size or is_taken or told.actor.kind in DECIDES_SIZES):
                yield told
                return
            if is_size:
                return  # by an event

    # -- what to change -------------------------------------------------------------------------

    def _changes(self) -> tuple[Remedy, ...]:
        if not self._model.setup.nodes:
            return (Remedy(NO_NODES),)
        found = list(dict.fromkeys((*self._end_fight(), *self._offers())))
        return tuple(found[:MOST_CHANGES]) or (Remedy(self._say_what_is_tried()),)

    def _say_what_is_tried(self) -> str:
        """Where nobody in the run says what would help: what the search for repairs would change."""
        intent = self._monitor.intent
        who = intent.target or ", ".join(one.declared_as for one in self._model.setup.workloads[:MOST_CHANGES])
        return f"nothing in this run says what would help {who}: kubeproof fix tries changes, and proves those that do"

    def _offers(self) -> Iterator[Remedy]:
        """What loops ask for; of those that cannot go on before another one does, only what that one asks for."""
        offers = [one for one in self._inaction if one.change and not self._is_idle_talk(one)]
        alone = sorted((one for one in offers if one.rule in ALONE), key=lambda one: ALONE.index(one.rule))
        yield from (Remedy(one.change, one.fields, one.rule) for one in alone[:1] or offers)

    def _is_idle_talk(self, one: Inaction) -> bool:
        """True if what a loop asks for would not let it go on here."""
        filters = {name for other in self._unplaced for name, _ in other.numbers}
        if one.rule == "ordinal-waits-for-lower":
            return bool(filters)
        if one.rule == "rollout-keeps-available":
            is_refused = any(other.rule == "admission-refuses" for other in self._all)
            return filters.isdisjoint(MADE_WAY_FOR) and not is_refused
        return one.rule == "silent-kubelet" and bool(filters) and not self._keeps_others_out(one, filters)

    def _keeps_others_out(self, one: Inaction, filters: set[str]) -> bool:
        """True if pods on a dead node are in the way of those that are to replace them."""
        setup = self._model.setup
        own = next((other for other in setup.workloads if other.ref == one.object), None)
        if own is None or own.rules.has_ordinals or VOLUME_RESTRICTIONS in filters:
            return True
        terms = own.template.pod_anti_affinity.required if INTER_POD_AFFINITY in filters else ()
        return any(term.topology_key != HOSTNAME for term in terms)

    def _end_fight(self) -> Iterator[Remedy]:
        """What ends a loop, by who is in it."""
        if self._steps and self._steps[-1].tags & Tag.PANIC:
            yield self._use_less(self._told[-1].why)
        if self._fight is None:
            return
        kinds = {step.actor.kind for step in self._fight.writers}
        if ActorKind.DESCHEDULER in kinds:
            yield self._narrow_descheduler(self._fight)
        elif ActorKind.GITOPS in kinds:
            refs = [one.declared_as for one in self._model.setup.workloads if one.ref in self._fight.field]
            fields = tuple(Field(ref, "spec.replicas") for ref in refs)
            told = f"let one of them write {self._fight.field}"
            yield Remedy(f"{told}: drop it from the manifest, or ignore its difference", fields)
        elif kinds == {ActorKind.HPA}:
            yield Remedy(f"let one autoscaler alone write {self._fight.field}")
        elif kinds == {ActorKind.EVENT}:
            yield self._use_less([line for step in self._fight.writers for line in step.why])

    def _use_less(self, why: Sequence[str]) -> Remedy:
        """What keeps nodes from being overloaded by pods; the numbers are those of the overload."""
        setup = self._model.setup
        told = [one for one in setup.workloads if any(f" {one.ref} " in f" {line} " for line in why)]
        refs = list(dict.fromkeys(one.declared_as for one in told or setup.workloads))[:MOST_CHANGES]
        who = ", ".join(refs)
        return Remedy(
            f"let fewer pods of {who} share a node (larger requests), or not all of them use so much at once",
            tuple(pod_field(ref, "containers") for ref in refs),
        )

    def _narrow_descheduler(self, fight: Fight) -> Remedy:
        """Names the plugins that decide in the run."""
        policy = self._model.setup.descheduler
        profiles = () if policy is None else policy.profiles
        every = [name for profile in profiles for _, names in profile.enabled for name in names]
        lines = [line for step in fight.writers for line in step.why if step.actor.kind == ActorKind.DESCHEDULER]
        names = list(dict.fromkeys(name for name in every if any(line.startswith(f"{name}: ") for line in lines)))
        told = " and ".join(names or dict.fromkeys(every))
        who = self._monitor.intent.target or next(
            (step.object for step in fight.writers if step.actor.kind == ActorKind.DESCHEDULER), "these pods"
        )
        says = f"let {told} of the descheduler leave {who} where it is: narrow or disable it, or give the scheduler "
        return Remedy(f"{says}the same aim", (Field(POLICY, "profiles"),))


def _has_arithmetic(step: TraceStep) -> bool:
    """False where the numbers are scores, which are compared elsewhere, and for loops that only keep up a number."""
    return step.actor.kind not in (ActorKind.SCHEDULER, ActorKind.KUBELET, ActorKind.STATEFUL_SET, ActorKind.DAEMON_SET)


def _is_consequence(step: Transition) -> bool:
    """True for what follows from use, and is no choice of the environment."""
    changes = (action.verb for action in step.decision.actions if isinstance(action, NodeChange))
    return any(verb in (PANIC, RECOVER) for verb in changes) and step.role != Role.EVENT


def _tell(step: TraceStep) -> str:
    return step.action if step.actor.kind == ActorKind.EVENT else f"{_subject(step)} {step.action}"


def _rank(one: Inaction) -> int:
    return TELLING.index(one.rule) if one.rule in TELLING else len(TELLING)


def _subject(one: Inaction | TraceStep) -> str:
    """Who, as people say it."""
    kind = one.actor.kind
    if kind == ActorKind.HPA:
        return f"autoscaler {one.actor.object}"
    if kind == ActorKind.OTHER:
        return f"the {one.actor}"
    return NAMES.get(kind, str(one.actor))


NO_NODES = (
    "name the nodes, too, the input has none: kubectl get nodes -o yaml > nodes.yaml writes those of a cluster, and "
    "--live reads them"
)
