"""Re-executes a counterexample on named objects and judges its property again.

Shares no code with the search: it knows the individual model and the recorded steps, nothing else. Each recorded
step must be one the model offers at that moment; the last state, or the loop, must break the property.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.control import Role
from kubeproof.errors import InternalError
from kubeproof.intents.monitor import CYCLE, IN_STABLE, NEVER, PERSISTENT, RECURRENT, STEP, Monitor
from kubeproof.model.by_name.abstraction import anonymous
from kubeproof.model.by_name.state import Concrete, State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.named_tuples import NamedTuple

if TYPE_CHECKING:
    from kubeproof.intents.predicates.temporal import Temporal

Recorded = tuple[str, tuple[Concrete, ...]]  # who acted, what was done
Look = Callable[[], None]  # at the clock, step by step: raises what ends the work


def look_nowhere() -> None:
    """Takes all the time that the work needs."""


class Replayed(NamedTuple):
    """The states and steps of a re-executed trace."""

    states: tuple[State, ...]
    steps: tuple[Transition, ...]


class ReplayMismatch(InternalError):
    """The recorded steps and the model disagree."""


def replay(
    model: IndividualModel,
    start: State,
    recorded: Sequence[Recorded],
    *,
    loop_start: int | None,
    monitor_number: int,
    look: Look = look_nowhere,
) -> Replayed:
    """Follows the recorded steps and checks that they break the property; raises ReplayMismatch if not."""
    replayed = take_again(model, start, recorded, look)
    judge(model, replayed, loop_start, monitor_number)
    return replayed


def take_again(model: IndividualModel, start: State, recorded: Sequence[Recorded], look: Look) -> Replayed:
    """Follows the recorded steps, each of which must be possible when it is taken."""
    states, steps = [start], []
    for number, (actor, concrete) in enumerate(recorded, start=1):
        look()
        step = _find_offered(model, states[-1], actor, concrete, number)
        steps.append(step)
        states.append(step.target)
    return Replayed(tuple(states), tuple(steps))


def retrace(
    model: IndividualModel, states: Sequence[State], steps: Sequence[Transition], look: Look = look_nowhere
) -> None:
    """Checks that each of the steps is possible and leads where it is said to; raises ReplayMismatch if not."""
    for number, (before, step, after) in enumerate(zip(states, steps, states[1:], strict=False), start=1):
        look()
        if _find_offered(model, before, step.controller, step.concrete, number).target != after:
            raise ReplayMismatch(f"E700 step {number} of the trace leads elsewhere: {step.controller} {step.concrete}")


def _find_offered(
    model: IndividualModel, state: State, actor: str, concrete: tuple[Concrete, ...], number: int
) -> Transition:
    """The step, seen by the monitors; it may do to several nodes in another order what was recorded."""
    others = []
    for step in _list_offers(model, state, actor):
        if step.controller == actor:
            if step.concrete == concrete:
                return step._replace(target=model.judge(step.target))
            others.append(step)
    for step in others:
        if _in_any_order(step.concrete) == _in_any_order(concrete):
            return step._replace(target=model.judge(step.target))
    raise ReplayMismatch(f"E700 step {number} of the trace is not possible: {actor} cannot do {concrete}")


def _in_any_order(concrete: tuple[Concrete, ...]) -> tuple[Concrete, ...]:
    return tuple(sorted(concrete, key=lambda done: [str(part) for part in done]))


def _list_offers(model: IndividualModel, state: State, actor: str) -> Iterable[Transition]:
    """What a loop offers, which can be asked alone; time and patient events need the whole picture."""
    own = [controller for controller in model.plan.controllers if controller.name == actor]
    if not own:
        return (step._replace(target=step.target._replace(observed=state.observed)) for step in model.steps(state))
    return (step for controller in own for step in model.offers_of(controller, state))


def judge(model: IndividualModel, replayed: Replayed, loop_start: int | None, monitor_number: int) -> None:
    """Raises ReplayMismatch if the run does not break the property."""
    monitor = model.plan.monitors[monitor_number]
    if monitor.temporal is not None:
        problem = _judge_word(model, replayed, loop_start, monitor.temporal)
    elif loop_start is None:
        problem = _judge_end(model, replayed, monitor, monitor_number)
    else:
        problem = _judge_loop(model, replayed, loop_start, monitor, monitor_number)
    if problem:
        raise ReplayMismatch(f"E700 the trace does not break {monitor.intent.name}: {problem}")


def _judge_end(model: IndividualModel, replayed: Replayed, monitor: Monitor, number: int) -> str:
    last = replayed.states[-1]
    if monitor.kind == CYCLE:
        return "it has no loop"
    if monitor.kind == STEP:
        breaks = bool(replayed.steps) and bool(replayed.steps[-1].tags & monitor.tags)
        return "" if breaks else "its last step is not one of those"
    if not last.observed[number][1]:
        return "its last state is not bad"
    if monitor.kind in (IN_STABLE, RECURRENT, PERSISTENT) and not model.is_stable(last):
        return "its last state is not stable"
    return ""


def _judge_word(model: IndividualModel, replayed: Replayed, loop_start: int | None, temporal: Temporal) -> str:
    """Reads the letters of the run and asks the formula itself, without any automaton, what it says about them."""
    from kubeproof.logic.lasso import Lasso, holds
    from kubeproof.logic.progress import is_ruled_out
    from kubeproof.model.letters import name_letter, name_letters

    letters = name_letters(model, temporal, replayed.states, replayed.steps)
    if loop_start is not None:
        problem = _unfair(model, replayed, loop_start)
        loop = Lasso(letters[: loop_start + 1], letters[loop_start + 1 :])
        return problem or ("the formula holds on it" if holds(temporal.formula, loop) else "")
    last = replayed.states[-1]
    if model.is_stable(last):
        rest = Lasso(letters, (name_letter(model, temporal, last, None),))
        if not holds(temporal.formula, rest):
            return ""
    return "" if is_ruled_out(temporal.formula, letters) else "the formula may still hold after it"


def _judge_loop(model: IndividualModel, replayed: Replayed, loop_start: int, monitor: Monitor, number: int) -> str:
    if problem := _unfair(model, replayed, loop_start):
        return problem
    return _judge_kind(replayed.states[loop_start:-1], replayed.steps[loop_start:], monitor, number)


def _unfair(model: IndividualModel, replayed: Replayed, loop_start: int) -> str:
    """Why the loop is no endless run that counts; "" if it is one."""
    states, steps = replayed.states[loop_start:-1], replayed.steps[loop_start:]
    if loop_start < 0 or not steps or anonymous(model, states[0]) != anonymous(model, replayed.states[-1]):
        return "its loop does not return to where it began"
    if any(step.role == Role.EVENT for step in steps):
        return "its loop needs events"
    starved = _find_starved(model, states, steps)
    return f"its loop starves {starved}" if starved else ""


def _judge_kind(states: Sequence[State], steps: Sequence[Transition], monitor: Monitor, number: int) -> str:
    bad = [state.observed[number][1] for state in states]
    if monitor.kind == CYCLE and not any(step.tags & monitor.tags for step in steps):
        return "its loop changes nothing that counts"
    if monitor.kind == RECURRENT and not any(bad):
        return "its loop has no bad state"
    if monitor.kind == PERSISTENT and (not all(bad) or any(step.tags & monitor.tags for step in steps)):
        return "its loop is not bad throughout"
    return "no loop breaks such a property" if monitor.kind in (NEVER, IN_STABLE, STEP) else ""


def _find_starved(model: IndividualModel, states: Sequence[State], steps: Sequence[Transition]) -> str:
    """Who has urgent work, or must happen, in every state of the loop and never acts in it; "" if nobody."""
    urgent = [{s.controller for s in model.steps(state) if s.role == Role.URGENT or s.is_promised} for state in states]
    idle = set.intersection(*urgent) - {step.controller for step in steps}
    return min(idle, default="")
