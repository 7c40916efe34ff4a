"""Follows a recorded run with the model: is what the real control plane did a run of ours?

Each recorded action of a control loop or operator must be (part of) a step that the individual model offers at that
moment. Time and the kubelets, which are simulated in the recording, too, may take silent steps in between. Two things
are coarser in the model and allowed for: one step of a loop may write several objects, so its later writes are taken
ahead of what others do meanwhile (`displaced` counts them); and the last step may be cut by the end of the recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from kubeproof.cases.library import load_case
from kubeproof.events.declarations import UsageChange
from kubeproof.events.usage import LevelEvent
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import plan_of
from tests.conformance.controlplane.runs import Recorded, Run, until_broken
from tests.conformance.controlplane.symmetry import Renaming, renamings
from tests.conformance.controlplane.vocabulary import DECIDERS, Said, Word, said_by_model, said_by_run

MOST_POSITIONS = 20_000
SEEN = (*DECIDERS, "drain", "event")
UNSEEN_VERBS = ("cannot-place", "deployed")  # changes nothing that the model has; a mark of the driver


@dataclass(frozen=True, slots=True)
class Followed:
    """How far the model can follow a run."""

    accepted: int
    total: int
    displaced: int  # accepted as part of an earlier step of the same loop
    beyond: int  # of the total: about objects that the model does not keep
    stuck_at: Said | None = None
    is_exhaustive: bool = True  # False if the search was given up at its limit

    @property
    def percent(self) -> float:
        """The matching rate with the run of the model that was found: it does what was accepted, and nothing else."""
        return 100 * 2 * self.accepted / (self.total + self.accepted)


class Position(NamedTuple):
    """Where the search stands: the model's state, which recorded actions are used, who is who."""

    state: State
    used: frozenset[int]
    names: tuple[tuple[str, str], ...]  # recorded pod -> pod of the model


def follow(run: Run) -> Followed:
    """The best that any renaming of the nodes gives."""
    results = []
    for renaming in renamings(run.case):
        followed = _followed(run, renaming)
        if followed.accepted == followed.total:
            return followed
        results.append(followed)
    return max(results, key=lambda one: one.accepted)


def _followed(run: Run, renaming: Renaming) -> Followed:
    loaded = _loaded(run.case)
    plan = plan_of(loaded, VerifyOptions())
    before, after = _split(run)
    model = IndividualModel(plan)
    position = _first(model)
    accepted = displaced = 0
    if loaded.scenario.start.mode == "deployed":
        deploying = Search(IndividualModel(plan.deploying()), _said(before, renaming))
        found = deploying.run(_first(deploying.model), until_stable=True)
        if found is None:
            return deploying.result(len(_said(after, renaming)))
        accepted, displaced = len(deploying.actions), deploying.displaced
        position = Position(model.restart(found.state), frozenset(), found.names)
    else:
        after = (*before, *after)
    kept, beyond = _without_failed(after)
    search = Search(model, _said(kept, renaming))
    search.run(position)
    total = accepted + len(search.actions) + beyond
    return Followed(
        accepted + search.best, total, displaced + search.displaced, beyond, search.stuck_at, search.is_exhaustive
    )


@cache
def _loaded(case: str) -> Loaded:
    """The case; where its start is a given placement, the real cluster had to deploy it first, and so does this."""
    files = [(path, Path(path).read_text(encoding="utf-8")) for path in load_case(case)]
    return load_texts([(name, _deploying(text) if name.endswith("scenario.yaml") else text) for name, text in files])


def _deploying(text: str) -> str:
    scenario = yaml.safe_load(text)
    if scenario["spec"]["start"] != "empty":
        scenario["spec"]["start"] = "deployed"
    return str(yaml.safe_dump(scenario))


def _first(model: IndividualModel) -> Position:
    (state,) = model.initial()
    return Position(state, frozenset(), ())


def _split(run: Run) -> tuple[tuple[Recorded, ...], tuple[Recorded, ...]]:
    """What led to the deployed start, and the rest; without such a mark all is rest."""
    actions = until_broken(run)
    marks = [index for index, action in enumerate(actions) if action.verb == "deployed"]
    return (actions[: marks[0]], actions[marks[0] :]) if marks else ((), actions)


def _without_failed(actions: Sequence[Recorded]) -> tuple[tuple[Recorded, ...], int]:
    """Without deletions of pods that a kubelet had rejected before: the model keeps no objects of failed pods."""
    rejected: set[str] = set()
    kept: list[Recorded] = []
    for action in actions:
        if action.verb == "reject":
            rejected.add(action.object)
        if action.verb != "delete" or action.object not in rejected:
            kept.append(action)
    return tuple(kept), len(actions) - len(kept)


def _said(actions: Sequence[Recorded], renaming: Renaming) -> list[Said]:
    """What is to be followed, in the model's names of nodes."""
    names = dict(renaming)
    said = [said_by_run(action) for action in actions]
    return [
        Said(one.word._replace(where=names.get(one.word.where, one.word.where)), one.pod)
        for one in said
        if one.word.who in SEEN and one.word.verb not in UNSEEN_VERBS and (one.pod or one.word.verb != "create")
    ]


class Search:
    """A depth-first search for a run of the model with these actions."""

    def __init__(self, model: IndividualModel, actions: Sequence[Said]) -> None:
        self.model = model
        self.actions = list(actions)
        self.best = 0
        self.displaced = 0
        self.is_exhaustive = True
        self.stuck_at: Said | None = self.actions[0] if self.actions else None

    def run(self, start: Position, *, until_stable: bool = False) -> Position | None:
        """The position after the last action, None if the model cannot follow."""
        stack = [start]
        known = {start: 0}  # with the actions displaced so far
        while stack and len(known) < MOST_POSITIONS:
            position = stack.pop()
            self._note(position, known[position])
            if len(position.used) == len(self.actions) and (not until_stable or self.model.is_stable(position.state)):
                return position
            for successor in reversed(list(self._successors(position))):
                if successor not in known:
                    known[successor] = known[position] + self._ahead(position, successor)
                    stack.append(successor)
        self.is_exhaustive = not stack
        return None

    def result(self, more: int) -> Followed:
        """The result of a search that failed, with so many actions not even tried."""
        return Followed(self.best, len(self.actions) + more, self.displaced, 0, self.stuck_at, self.is_exhaustive)

    @staticmethod
    def _ahead(position: Position, successor: Position) -> int:
        """How many actions the step uses although an earlier one is left for later."""
        left = next((i for i in range(len(successor.used) + 1) if i not in successor.used), 0)
        return sum(index > left for index in successor.used - position.used)

    def _note(self, position: Position, displaced: int) -> None:
        if len(position.used) > self.best:
            self.best, self.displaced = len(position.used), displaced
            self.stuck_at = self._next(position)

    def _next(self, position: Position) -> Said | None:
        return next((said for index, said in enumerate(self.actions) if index not in position.used), None)

    def _successors(self, position: Position) -> Iterator[Position]:
        """Steps that explain the next action, then silent steps."""
        wanted = self._next(position)
        silent = []
        for step in self.model.steps(position.state):
            said = self._said_by(position.state, step)
            if not said:
                silent.append(Position(step.target, position.used, position.names))
            elif wanted is not None and any(one.word == wanted.word for one in said):
                after = self._explained(position, step, said)
                if after is not None:
                    yield after
        yield from silent

    def _said_by(self, state: State, step: Transition) -> list[Said]:
        homes = {pod.name: name for name, node in zip(self.model.names, state.nodes, strict=True) for pod in node.pods}
        said = said_by_model(step.controller, step.concrete, homes)
        return said or self._load_change(step)

    def _load_change(self, step: Transition) -> list[Said]:
        for event in self.model.plan.events:
            if isinstance(event, LevelEvent) and event.name == step.controller:
                declared = event.source.event
                level = next(one[2][0] for one in step.concrete if one[0] == "remember")  # type: ignore[index]
                if isinstance(declared, UsageChange):
                    return [Said(Word("event", "cpu", "", declared.levels[level].percent))]
        return []

    def _explained(self, position: Position, step: Transition, said: Sequence[Said]) -> Position | None:
        """The position after the step if all it does is recorded, the next action among it.

        What is missing is forgiven only if the recording ends with this step.
        """
        used, names = set(position.used), dict(position.names)
        found = [self._recorded(one, used, names) for one in said]
        first = next(index for index in range(len(self.actions)) if index not in position.used)
        is_cut = None in found and len(used) < len(self.actions)
        if first not in used or is_cut:
            return None
        return Position(step.target, frozenset(used), tuple(sorted(names.items())))

    def _recorded(self, one: Said, used: set[int], names: dict[str, str]) -> int | None:
        """Uses the first record of this action that is left; pods get their names on the way."""
        for index, action in enumerate(self.actions):
            if index in used or action.word != one.word:
                continue
            if not one.pod or self._is_same_pod(action, one, names):
                used.add(index)
                return index
        return None

    @staticmethod
    def _is_same_pod(action: Said, one: Said, names: dict[str, str]) -> bool:
        if action.word.verb == "create":  # the model uses names of vanished pods again
            for recorded in [name for name, pod in names.items() if pod == one.pod]:
                del names[recorded]
        elif action.pod not in names and one.pod in names.values():
            return False
        return names.setdefault(action.pod, one.pod) == one.pod
