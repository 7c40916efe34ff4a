"""A counterexample as the audit log of a cluster that did just that.

What `monitor run` makes of such a log must be the violation that `verify` found: the two are tested against each other.
Every step is one moment of the log; a loop is gone round several times, and where only time shows that something is
so for ever, the log goes on until it does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from kubeproof.cluster.kinds import KINDS, POD
from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.cluster.loops.control import Role
from kubeproof.cluster.loops.tags import Tag, tag_of
from kubeproof.cluster.state import DRAINING
from kubeproof.errors import InternalError
from kubeproof.intents.monitor import NEVER, STEP
from kubeproof.model.by_name.abstraction import anonymous
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verify.counterexamples.audit_objects import Key, Object, Pods, nodes, owners, stands
from kubeproof.verify.counterexamples.rerun import Rerun
from kubeproof.verify.result import IntentResult
from kubeproof.verify.words.steps import measure_elapsed

ROUNDS = 5  # that a loop is gone
TAIL_S = 3600
OPERATOR = "operator@example.com"
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_SYSTEM = "system:serviceaccount:kube-system:"
_USERS = {
    ActorKind.SCHEDULER: "system:kube-scheduler",
    ActorKind.KUBELET: "system:nodes",
    ActorKind.EVENT: "system:nodes",  # what follows from an event by itself, such as a recovery
    ActorKind.DESCHEDULER: f"{_SYSTEM}descheduler",
    ActorKind.GITOPS: "system:serviceaccount:argocd:argocd-application-controller",
}
_EVICTORS = (
    (Tag.BY_DESCHEDULER, f"{_SYSTEM}descheduler", True),
    (Tag.BY_VPA, f"{_SYSTEM}vpa-updater", True),
    (Tag.BY_DRAIN, OPERATOR, True),
    (Tag.BY_TAINT, f"{_SYSTEM}taint-eviction-controller", False),
    (Tag.BY_PREEMPTION, "system:kube-scheduler", False),
)


def audit_log(again: Rerun, one: IntentResult, *, rounds: int = ROUNDS, tail_s: int = TAIL_S) -> Iterator[str]:
    """The lines of the log."""
    states, steps = list(again.run.states), list(again.run.steps)
    trace = one.trace
    if trace is not None and trace.loop_start is not None:
        begin = trace.loop_start - trace.deployed_steps
        _go_round(again.model, states, steps, begin, rounds)
    writer = _Writer(again.model, states[0])
    yield from writer.first()
    for before, step in zip(states, steps, strict=False):
        yield from writer.step(before, step)
    if again.model.plan.monitors[again.monitor_number].kind not in (NEVER, STEP):
        yield writer.pause(tail_s)


def _go_round(model: IndividualModel, states: list[State], steps: list[Transition], begin: int, rounds: int) -> None:
    """Adds rounds of the loop: by name it leads to equal objects, not to the same ones."""
    wanted = [(step.controller, anonymous(model, step.target)) for step in steps[begin:]]
    for _ in range(rounds - 1):
        for actor, target in wanted:
            taken = _like(model, states[-1], actor, target)
            steps.append(taken)
            states.append(taken.target)


def _like(model: IndividualModel, state: State, actor: str, target: object) -> Transition:
    offered = model.steps(state)
    for step in sorted(offered, key=lambda step: step.controller != actor):
        if anonymous(model, step.target) == target:
            return step
    raise InternalError(f"E700 the loop cannot be gone again: {actor}. Please report this with the input.")


class _Writer:
    """Writes what differs between two states, as requests of whoever acted."""

    def __init__(self, model: IndividualModel, start: State) -> None:
        self._model, self._start = model, start
        self._pods = Pods(model)
        self._objects: dict[Key, Object] = {}
        self._time_s = 0
        self._number = 0
        self._records = 0

    def first(self) -> Iterator[str]:
        """Everything that is there at the beginning, in one moment."""
        self._objects = self._show_objects(None, self._start, None)
        for key, value in self._objects.items():
            yield self._record("create", key, OPERATOR if key[0] != POD else "system:apiserver", value)
        if not self._objects:
            yield self.pause(0)

    def step(self, before: State, step: Transition) -> Iterator[str]:
        """The requests of one step; none if the API server learns nothing of it."""
        self._time_s += measure_elapsed(step)
        self._number += 1
        old, new = self._objects, self._show_objects(before, step.target, step)
        user = self._user(step)
        for key in [key for key in old if key not in new]:
            yield from self._write_gone(key, old[key], step, user)
        for key, value in new.items():
            if old.get(key) != value:
                yield from self._write_changed(key, old.get(key), value, step, user)
        self._objects = new
        yield from self._refusals(before, step.target)

    def pause(self, seconds: int) -> str:
        """Time passes."""
        self._time_s += seconds
        self._number += 1
        return self._line("get", {"resource": "leases"}, "system:apiserver", 200, {})

    def _show_objects(self, before: State | None, after: State, step: Transition | None) -> dict[Key, Object]:
        return {
            **dict(nodes(self._model, after)),
            **dict(owners(self._model, after)),
            **self._pods.objects(before, after, step),
        }

    def _user(self, step: Transition) -> str:
        if step.role == Role.EVENT:
            return OPERATOR
        kind = step.controller.kind
        name = step.controller.object if kind == ActorKind.OTHER else kind
        return _USERS.get(kind, f"{_SYSTEM}{name}-controller")

    def _write_gone(self, key: Key, value: Object, step: Transition, user: str) -> Iterator[str]:
        if key[0] == POD and not _is_over(value):
            yield from self._end(key, value, step, user)
        yield self._record("delete", key, user, None, request={"gracePeriodSeconds": 0})

    def _end(self, key: Key, value: Object, step: Transition, user: str) -> Iterator[str]:
        """Whoever evicts a pod says so; who deletes one just deletes it."""
        evictor = self._evictor(value, step)
        if evictor is None:
            yield self._record("delete", key, user, {**value, "metadata": {**value["metadata"], **_GRACE}})
            return
        who, by_api = evictor
        if by_api:
            yield self._record("create", key, who, None, part="eviction", code=201)
        else:
            yield self._record("delete", key, who, {**value, "metadata": {**value["metadata"], **_GRACE}})

    def _evictor(self, value: Object, step: Transition) -> tuple[str, bool] | None:
        number = int(value["metadata"]["labels"]["kubeproof.dev/revision-of"])
        for tag, who, by_api in _EVICTORS:
            if step.tags & tag_of(number, int(tag)):
                return who, by_api
        return None

    def _write_changed(self, key: Key, old: Object | None, new: Object, step: Transition, user: str) -> Iterator[str]:
        if old is None:
            yield self._record("create", key, user, new)
            return
        if key[0] != POD:
            yield self._record("patch", key, user, new)
            return
        if old["metadata"]["uid"] != new["metadata"]["uid"]:
            yield from self._write_gone(key, old, step, user)
            yield self._record("create", key, user, new)
            return
        target = new["spec"].get("nodeName")
        if old["spec"].get("nodeName") != target:
            yield self._record("create", key, user, None, part="binding", request={"target": {"name": target}})
        if "deletionTimestamp" in new["metadata"] and "deletionTimestamp" not in old["metadata"]:
            yield from self._end(key, old, step, user)
        if old["status"] != new["status"] and "deletionTimestamp" not in new["metadata"]:
            yield self._record("patch", key, user, new, part="status")

    def _refusals(self, before: State, after: State) -> Iterator[str]:
        """Who drains a node asks for every pod, and is refused where a budget forbids it."""
        for index, (old, new) in enumerate(zip(before.nodes, after.nodes, strict=True)):
            if new.work in DRAINING and old.work != new.work:
                yield from self._write_refused(self._model.names[index], after)

    def _write_refused(self, node: str, state: State) -> Iterator[str]:
        setup = self._model.setup
        for pod, stand in stands(self._model, state).items():
            if stand.node == node and not setup.workloads[pod[0]].rules.runs_per_node:
                name, _ = self._pods.name_of(pod)
                key: Key = (POD, setup.workloads[pod[0]].namespace, name)
                yield self._record("create", key, OPERATOR, None, part="eviction", code=429)
                return

    def _record(
        self,
        verb: str,
        key: Key,
        user: str,
        answer: Object | None,
        *,
        part: str = "",
        request: Any = None,
        code: int = 200,
    ) -> str:
        kind, namespace, name = key
        about = {
            "resource": f"{kind.lower()}s",
            "name": name,
            "apiGroup": KINDS[kind].group if kind in KINDS else "",
            "apiVersion": "v1",
        }
        about |= ({"namespace": namespace} if namespace else {}) | ({"subresource": part} if part else {})
        body: Object = {} if answer is None else {"responseObject": answer}
        return self._line(verb, about, user, code, body | ({} if request is None else {"requestObject": request}))

    def _line(self, verb: str, about: Object, user: str, code: int, body: Object) -> str:
        self._records += 1
        moment = _BEGIN + timedelta(seconds=self._time_s, microseconds=self._number)
        stamp = moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
        record = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "RequestResponse",
            "auditID": f"kubeproof-{self._records}",
            "stage": "ResponseComplete",
            "verb": verb,
            "user": {"username": user},
            "objectRef": about,
            "responseStatus": {"code": code},
            **body,
            "requestReceivedTimestamp": stamp,
            "stageTimestamp": stamp,
        }
        return json.dumps(record) + "\n"


def _is_over(pod: Object) -> bool:
    """True for a pod that is being deleted, or has finished."""
    return "deletionTimestamp" in pod["metadata"] or pod["status"]["phase"] in ("Failed", "Succeeded")


_GRACE = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
