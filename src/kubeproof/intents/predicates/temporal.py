"""An `ltl` intent made ready for one layout: the letters of states and steps, and the machine that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import Nodes, WorkloadCell, present
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates.asked import EventMemory
from kubeproof.intents.predicates.expressions import Call, Constant, Expression, calls, parse_predicate
from kubeproof.intents.predicates.observables import MAKERS, OF_EVENTS, happening
from kubeproof.intents.predicates.observing import Observable, find_meant
from kubeproof.intents.predicates.vocabulary import FUNCTIONS
from kubeproof.logic.formula import Formula, Op, atoms, subformulas
from kubeproof.logic.machine import Machine, machine_of
from kubeproof.logic.parser import parse
from kubeproof.logic.vacuity import strengthen

Values = tuple[int, ...]
Happened = tuple[bool, ...]
Evaluated = Callable[[Values, Happened, bool], int]


class Temporal:
    """The formula and its predicates over states and steps of one layout."""

    def __init__(self, intent: Intent, layout: Layout, events: Mapping[str, EventMemory]) -> None:
        """`events` are those of the Scenario by name: what a predicate reads of them is in their memories."""
        self.formula: Formula = parse(intent.formula)
        self.names = atoms(self.formula)
        self.where = tuple((name, text) for name, text in intent.where if name in self.names)
        self._layout = layout
        self._expressions = {name: parse_predicate(text) for name, text in self.where}
        every = tuple(dict.fromkeys(call for one in self._expressions.values() for call in _plain(calls(one))))
        self._state_calls = tuple(call for call in every if call.name in MAKERS)
        self._event_calls = tuple(call for call in every if call.name in OF_EVENTS)
        self._events = tuple((OF_EVENTS[c.name], events[str(c.text("event"))]) for c in self._event_calls)
        self._step_calls = tuple(call for call in every if FUNCTIONS[call.name].of_steps)
        self.reads_stability = any(call.name == "stable" for call in every)
        self._observables = tuple(MAKERS[call.name](layout, call) for call in self._state_calls)
        self._happenings = tuple(happening(layout.setup, call) for call in self._step_calls)
        self._predicates = tuple(self._evaluate(self._expressions[name]) for name in self.names)
        self._letters: dict[tuple[Values, Happened, bool], int] = {}
        self._seen: dict[tuple[int, bool, int, object], object] = {}

    @cached_property
    def machine(self) -> Machine:
        """What follows runs."""
        return machine_of(self.formula, self.names)

    @cached_property
    def stronger(self) -> tuple[Machine, ...]:
        """Machines of formulas that hold only if this one holds vacuously."""
        return tuple(machine_of(formula, self.names) for formula in strengthen(self.formula))

    @property
    def workloads(self) -> tuple[int, ...]:
        """The workloads that the predicates look at."""
        of_states = {w for observable in self._observables for w in observable.workloads}
        of_steps = {w for call in self._step_calls for w in find_meant(self._layout.setup, call)}
        return tuple(sorted(of_states | of_steps))

    def watches_workload(self, workload: int) -> bool:
        """True if a step of the workload's pods or of their controllers may change a letter, or be counted.

        `X` counts steps, and whether a state is stable depends on everybody: then every step may matter.
        """
        counts = any(part.op is Op.NEXT for part in subformulas(self.formula))
        return counts or self.reads_stability or workload in self.workloads

    # -- letters --------------------------------------------------------------------------------

    @property
    def reads_events(self) -> bool:
        """True if a predicate asks what events have done, which only a model knows."""
        return bool(self._event_calls)

    def values(
        self, workloads: Sequence[WorkloadCell], places: Sequence[Nodes], memories: Sequence[tuple[int, ...]]
    ) -> Values:
        """What is measured in a state; nodes that are not there yet are not seen."""
        of_cells = tuple(
            observable.total(
                tuple(self._of_workload(number, observable, w, workloads[w]) for w in observable.workloads),
                tuple(self._of_place(number, observable, p, places[p]) for p in observable.places),
            )
            for number, observable in enumerate(self._observables)
        )
        return of_cells + tuple(measure(event, memories[event.number]) for measure, event in self._events)

    def _of_workload(self, number: int, observable: Observable, workload: int, cell: WorkloadCell) -> object:
        key = (number, True, workload, cell)
        if key not in self._seen:
            self._seen[key] = observable.of_workload(workload, cell)
        return self._seen[key]

    def _of_place(self, number: int, observable: Observable, place: int, nodes: Nodes) -> object:
        key = (number, False, place, nodes)
        if key not in self._seen:
            self._seen[key] = observable.of_place(place, present(nodes))
        return self._seen[key]

    def look_for(self, tags: int, actions: Iterable[object]) -> Happened:
        """What a step did; all false without one."""
        known = tuple(actions)
        return tuple(happening.happens_in(tags, known) for happening in self._happenings)

    @property
    def nothing_happened(self) -> Happened:
        """What is true of no step: at the start, and while a stable state lasts."""
        return (False,) * len(self._happenings)

    def letter(self, values: Values, happened: Happened, is_stable: bool) -> int:
        """The number of the letter: bit i is set if the i-th predicate in `names` is true."""
        key = (values, happened, is_stable and self.reads_stability)
        if key not in self._letters:
            self._letters[key] = sum(bool(predicate(*key)) << place for place, predicate in enumerate(self._predicates))
        return self._letters[key]

    def _evaluate(self, expression: Expression) -> Evaluated:
        if isinstance(expression, Constant):
            return lambda _v, _h, _s: int(expression.value)
        if isinstance(expression, Call):
            return self._measure(_bare(expression))
        parts = [self._evaluate(part) for part in expression.parts]
        if expression.op == "!":
            return lambda v, h, s: int(not parts[0](v, h, s))
        compute = _OPERATIONS[expression.op]
        return lambda v, h, s: compute(parts[0](v, h, s), parts[1](v, h, s))

    def _measure(self, call: Call) -> Evaluated:
        if call.name == "stable":
            return lambda _v, _h, s: int(s)
        if call in self._step_calls:
            step = self._step_calls.index(call)
            return lambda _v, h, _s: int(h[step])
        place = (*self._state_calls, *self._event_calls).index(call)
        return lambda v, _h, _s: v[place]


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


def _bare(call: Call) -> Call:
    """The call without its place in the text, so that equal calls are measured once."""
    return Call(call.name, call.arguments, 0)


def _plain(found: Iterable[Call]) -> Iterable[Call]:
    return map(_bare, found)
