"""Formulas on random small clusters: library intents against their templates, search against search by name, orders."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from kubeproof.engine.reference import reach
from kubeproof.engine.search import Search
from kubeproof.events.declarations import Completes, CpuLoad, NeverReady, UsageChange, UsagePattern
from kubeproof.intents.declarations import Intent
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.plan import Plan
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.lift import lift
from kubeproof.verify.counterexamples.replayer import replay
from kubeproof.verify.models import search_models
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.searching import Beginning, Watch
from kubeproof.verify.words.reference import judge_word
from tests.differential.comparison import Verdicts, search, verdicts_of
from tests.oracles.templates import as_ltl
from tests.property.automata import PROPOSITIONS, random_formula
from tests.property.families import BASIC_FAMILIES
from tests.property.loops import LOOP_FAMILIES
from tests.property.owners import OWNER_FAMILIES
from tests.property.priorities import PRIORITY_FAMILIES
from tests.property.promises import promise_cases
from tests.property.rations import ration_cases
from tests.property.storage import storage_cases
from tests.property.strategies import Case
from tests.property.traffic import ending_cases

FAMILIES = {
    **BASIC_FAMILIES,
    **LOOP_FAMILIES,
    **OWNER_FAMILIES,
    **PRIORITY_FAMILIES,
    "storage": storage_cases,
    "ration": ration_cases,
    "ending": ending_cases,
    "promise": promise_cases,
}
PER_RUN = 20  # cases of each family
MOST_STATES = 600
MOST_NAMED = 150  # states of the search by name
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
AT_A_TIME = 11  # Hypothesis begins to vary what it has seen after ten examples


def _run(family: str, cases: int, check_one) -> None:
    done: set[Case] = set()

    @settings(PATIENT, max_examples=AT_A_TIME)
    @given(FAMILIES[family](), st.integers(0, 2**32))
    def check(case: Case, number: int) -> None:
        if case not in done and len(done) < cases:
            check_one(case, Random(number))
            done.add(case)

    first_seed = 0
    while len(done) < cases:
        seed(first_seed)(check)()
        first_seed += 1


# -- the library and its templates ------------------------------------------------------------------


def _as_formulas(case: Case, _: Random) -> None:
    fast = search(case.plan(), max_states=MOST_STATES)
    general = replace(case, intents=tuple(as_ltl(intent) for intent in case.intents))
    slow = search(general.plan(), max_states=MOST_STATES)
    if not fast.stopped_by and not slow.stopped_by:
        assert verdicts_of(slow) == verdicts_of(fast), [i.formula for i in general.intents]
    _replay_all(general.plan(), slow)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_library_intent_and_its_formula_have_the_same_verdict(family: str) -> None:
    _run(family, PER_RUN, _as_formulas)


# -- random formulas --------------------------------------------------------------------------------


PATTERNS = ("G F a", "F G a", "F G !a", "G(a -> F b)", "F G (a -> b)", "(G F a) -> (G F b)", "a U b", "G(a -> (b U c))",
            "(!a) W b", "F(a & F(b & F c))", "G(a -> G !b)", "G F (a & F b) | F G c")  # fmt: skip


def _about_nodes(case: Case, number: int, random: Random) -> tuple[str, ...]:
    """Predicates that look at no workload: whatever pods do is invisible to them."""
    if not case.setup.nodes:
        return ("nodes() == 0", "nodes(up=true) == 0", "nodes(cordoned=true) > 0")
    node = random.choice(case.setup.nodes).name
    return (
        f"nodes(ready=false) > 0 || nodes(cordoned=true) > {number}",
        f"nodes('{node}', up=true) == 1",
        f"nodes(draining=true) > 0 || nodes(up=false) > {number}",
    )


def _about_pods(case: Case, number: int, random: Random) -> tuple[str, ...]:
    """Predicates about one workload."""
    chosen = random.choice(case.setup.workloads)
    target = f"'{chosen.ref}'"
    kinds = ("Deployment", "DaemonSet", "StatefulSet")
    rolled = (f"rolledOut({target})", f"revised({target}) && !rolledOut({target})", f"revision({target}) > 1")
    revisions = rolled if chosen.kind in kinds else ()
    node = f"'{random.choice(case.setup.nodes).name}'" if case.setup.nodes else "'none'"
    return (
        f"ready({target}) >= {number}",
        f"pending({target}) > 0",
        f"replicas({target}) == desired({target})",
        f"on({target}, {node}) > {number // 2}",
        f"skew({target}, 'kubernetes.io/hostname') <= 1",
        f"terminating({target}) == 0",
        f"bound({target})",
        f"created({target})",
        f"rescaled({target}) || moved({target})",
        f"missing({target}) > 0 || !exists({target})",
        f"evicted({target}, by='preemption') || evicted({target}, by='taint')",
        *revisions,
    )


def _about_events(case: Case) -> tuple[str, ...]:
    """Predicates about what events have done, twice each, so that they are asked often enough."""
    moments = [event for event in case.events if not isinstance(event, UsagePattern | NeverReady | Completes)]
    levelled = [event for event in moments if isinstance(event, UsageChange | CpuLoad)]
    return (*(f"happened('{event.name}')" for event in moments), *(f"level('{one.name}') > 0" for one in levelled)) * 2


def _about_all(number: int) -> tuple[str, ...]:
    """Predicates about everybody."""
    return ("stable", "evicted() || rejected()", "changed() && !stable", f"running() + starting() < {number}")


def _with_formulas(case: Case, random: Random) -> Case:
    """The case with three formulas over three predicates; every other time without `X` and without `stable`."""
    number, is_narrow = random.randrange(4), random.random() < 0.5
    pool = (*_about_nodes(case, number, random), *_about_pods(case, number, random), *_about_events(case))
    where = tuple(zip(PROPOSITIONS, random.sample(pool if is_narrow else (*pool, *_about_all(number)), 3), strict=True))
    if is_narrow and random.random() < 0.5:
        where = tuple(zip(PROPOSITIONS, _about_nodes(case, number, random), strict=True))
    formulas = [str(random_formula(random, 3)) for _ in range(0 if is_narrow else 1)]
    formulas += random.sample(PATTERNS, 3 - len(formulas))
    asked = [Intent(key="ltl", name=f"f{i}", formula=text, where=where) for i, text in enumerate(formulas)]
    return replace(case, intents=tuple(asked))


def _compare(case: Case, random: Random) -> None:
    asked = _with_formulas(case, random)
    plan = asked.plan()
    grouped = search(plan, max_states=MOST_STATES)
    _replay_all(plan, grouped)
    if grouped.stopped_by:
        return
    by_name = _by_name(plan)
    told = [(intent.formula, intent.where) for intent in asked.intents]
    assert by_name is None or by_name == verdicts_of(grouped), told
    _, fewer, order, *_ = search_models(plan, Beginning(()), VerifyOptions(max_states=4 * MOST_STATES), Watch())
    assert verdicts_of(fewer) == verdicts_of(grouped), (order, told)
    _replay_all(plan, fewer)
    alone = search(asked.plan(merge=False), max_states=4 * MOST_STATES)
    assert alone.stopped_by or verdicts_of(alone) == verdicts_of(grouped), told


def _by_name(plan: Plan) -> Verdicts | None:
    model = IndividualModel(plan)
    graph = reach(model, max_states=MOST_NAMED)
    if not graph.is_complete:
        return None
    temporals = [monitor.temporal for monitor in plan.monitors]
    return tuple(judge_word(model, graph, model.initial(), one) for one in temporals if one is not None)


@pytest.mark.parametrize("family", FAMILIES)
def test_all_searches_agree_on_random_formulas(family: str) -> None:
    _run(family, PER_RUN, _compare)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_all_searches_agree_on_many_random_formulas(family: str) -> None:
    _run(family, 20 * PER_RUN, _compare)


def _replay_all(plan: Plan, found: Search) -> None:
    """Every violation stands up to replay, in which the formula itself is asked about the letters."""
    namer = RepresentativeModel(plan)
    (start,) = namer.initial()
    for number, finding in enumerate(found.findings):
        if finding.verdict == Verdict.VIOLATED:
            path = lift(namer, start, found, finding)
            recorded = [(step.controller, step.concrete) for step in path.steps]
            replay(namer, start, recorded, loop_start=path.loop_start, monitor_number=number)
