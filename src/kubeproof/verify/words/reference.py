"""`ltl` intents on the graph of the reference search."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.engine.reference import NamedStep, StateGraph
from kubeproof.engine.reference_words import makes_a_word
from kubeproof.intents.predicates.temporal import Temporal
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.letters import letter_number
from kubeproof.verdicts import Verdict


def judge_word(
    model: IndividualModel, graph: StateGraph[State], starts: Sequence[State], temporal: Temporal
) -> Verdict:
    """The verdict of an `ltl` intent: HOLDS, VIOLATED, VACUOUS or UNKNOWN."""
    if not graph.is_complete:
        return Verdict.UNKNOWN

    def letter(state: State, step: NamedStep[State] | None, is_stable: bool) -> int:
        assert step is None or isinstance(step, Transition)
        return letter_number(model, temporal, state, step, is_stable=is_stable)

    if makes_a_word(graph, starts, temporal.machine, letter):
        return Verdict.VIOLATED
    if all(makes_a_word(graph, starts, machine, letter) for machine in temporal.stronger):
        return Verdict.HOLDS
    return Verdict.VACUOUS
