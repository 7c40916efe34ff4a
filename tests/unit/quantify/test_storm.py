"""Models handed to Storm as arrays, against a plain value iteration; bounds against exact values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeproof.errors import EnvironmentProblem, InternalError
from kubeproof.quantify.chains.arrays import ModelArrays, model_from_arrays
from kubeproof.quantify.checking import Answer, check
from kubeproof.quantify.methods import METHODS, CheckSettings
from kubeproof.quantify.prism.building import build
from kubeproof.quantify.prism.formulas import formula
from kubeproof.quantify.prism.programs import program, properties
from kubeproof.quantify.rounding import after_steps
from kubeproof.quantify.storm import storm
from tests.unit.quantify.programs import needs_storm

np = pytest.importorskip("numpy", reason="NumPy comes with the extra quantify")


def arrays(rows: list[list[list[tuple[int, float]]]], cost: list[float] | None = None) -> ModelArrays:
    """By state and choice: successors with their probabilities. The last state has the label "goal"."""
    choices = [sorted(choice) for state in rows for choice in state]
    return ModelArrays(
        choice_starts=np.cumsum([0, *(len(state) for state in rows)]),
        row_starts=np.cumsum([0, *(len(choice) for choice in choices)]),
        columns=np.array([column for choice in choices for column, _ in choice]),
        probabilities=np.array([share for choice in choices for _, share in choice]),
        labels={"goal": np.array([len(rows) - 1])},
        rewards={"cost": np.array(cost or [1.0] * len(rows))},
    )


SMALL = arrays([[[(1, 0.5), (2, 0.5)], [(0, 1.0)]], [[(1, 1.0)]], [[(2, 1.0)]]], [1.0, 2.0, 0.0])


@needs_storm
def test_arrays_become_a_model() -> None:
    model = model_from_arrays(SMALL)

    assert (model.kind, model.states, model.choices, model.transitions, model.branching) == ("mdp", 3, 4, 5, 2)
    assert model.unsigned == {"cost"}
    assert check(model, formula('Pmax=? [F "goal"]')).value == pytest.approx(0.5, rel=1e-9)
    assert check(model, formula('R{"cost"}max=? [C<=5]')).value == 5.0
    assert check(model, formula('R{"cost"}min=? [C<=1]')).value == 1.0


@needs_storm
def test_rewards_may_belong_to_choices() -> None:
    model = model_from_arrays(replace(SMALL, rewards={"cost": np.array([10.0, 1.0, 0.0, 0.0])}))

    assert check(model, formula('R{"cost"}max=? [C<=3]')).value == 12.0


@needs_storm
def test_negative_rewards_leave_the_rounding_of_steps_without_bounds() -> None:
    model = model_from_arrays(replace(SMALL, rewards={"cost": np.array([1.0, -2.0, 0.0])}))

    found = check(model, formula('R{"cost"}min=? [C<=4]'))

    assert (found.lower, found.upper, found.guarantee) == (None, None, "none")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probabilities": np.array([0.5, 0.4, 1, 1, 1])}, "row 0 sums to 0.9, not to 1"),
        ({"probabilities": np.array([1.5, -0.5, 1, 1, 1])}, "a probability is negative or no number"),
        ({"probabilities": np.array([np.nan, 0.5, 1, 1, 1])}, "a probability is negative or no number"),
        ({"probabilities": np.array([1.0])}, "5 columns but 1 probabilities"),
        ({"columns": np.array([1, 3, 0, 1, 2])}, "a column is outside 0 to 2"),
        ({"choice_starts": np.array([0, 2, 2, 4])}, "a state is empty"),
        ({"row_starts": np.array([0, 2, 2, 4, 5])}, "a row is empty"),
        ({"initial": 3}, "no initial state 3 among 3 states"),
        ({"rewards": {"cost": np.array([1.0])}}, "rewards 'cost' have neither"),
    ],
)
def test_arrays_that_are_no_model_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InternalError, match="E700 the arrays are no model: ") as problem:
        model_from_arrays(replace(SMALL, **change))

    assert message in str(problem.value)


def test_a_missing_installation_is_an_environment_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "stormpy", None)

    with pytest.raises(EnvironmentProblem, match=r"pip install 'kubeproof\[quantify\]'"):
        storm()


@st.composite
def models(draw: st.DrawFn) -> ModelArrays:
    """Up to six states with up to three choices of dyadic probabilities."""
    states = draw(st.integers(2, 6))
    choice = st.lists(st.integers(0, states - 1), min_size=4, max_size=4).map(
        lambda drawn: [(state, drawn.count(state) / 4) for state in sorted(set(drawn))]
    )
    rows = [draw(st.lists(choice, min_size=1, max_size=3)) for _ in range(states)]
    cost = draw(st.lists(st.integers(0, 9).map(float), min_size=states, max_size=states))
    return arrays(rows, cost)


def iterated(given: ModelArrays, steps: int, best: str) -> float:
    """The expected cost of so many steps, one after the other."""
    value = np.zeros(given.states)
    reduce = np.maximum if best == "max" else np.minimum
    for _ in range(steps):
        rows = np.add.reduceat(given.probabilities * value[given.columns], given.row_starts[:-1])
        value = given.rewards["cost"] + reduce.reduceat(rows, given.choice_starts[:-1])
    return float(value[0])


@needs_storm
@settings(max_examples=60)
@given(models(), st.integers(1, 30), st.sampled_from(["max", "min"]))
def test_storm_agrees_with_plain_value_iteration(given_model: ModelArrays, steps: int, best: str) -> None:
    found = check(model_from_arrays(given_model), formula(f'R{{"cost"}}{best}=? [C<={steps}]'))
    expected = iterated(given_model, steps, best)

    assert found.value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert found.lower <= expected <= found.upper


def written(given: ModelArrays, denominator: int) -> str:
    """The model as a program with probabilities in other units, so that they are rounded."""
    lines = ["mdp", "module m", f" s : [0..{given.states - 1}] init 0;"]
    for state in range(given.states):
        for row in range(given.choice_starts[state], given.choice_starts[state + 1]):
            entries = range(given.row_starts[row], given.row_starts[row + 1])
            shares = [f"{given.probabilities[e] * 4:.0f}/{denominator}:(s'={given.columns[e]})" for e in entries]
            rest = f"{denominator - 4}/{denominator}:(s'={state})"
            lines.append(f" [] s={state} -> {' + '.join([*shares, rest])};")
    costs = " ".join(f"s={state} : {cost:g};" for state, cost in enumerate(given.rewards["cost"]))
    goal = f'label "goal" = s={given.states - 1};'
    return "\n".join([*lines, "endmodule", goal, f'rewards "cost" {costs} endrewards']) + "\n"


QUESTIONS = (
    'Pmax=? [F "goal"]', 'Pmin=? [F "goal"]', 'Pmax=? [G !"goal"]', 'Pmin=? [s<2 U "goal"]', 'Pmax=? [F<=9 "goal"]',
    'Pmin=? [F[2,5] "goal"]', "Pmax=? [X s=1]", 'R{"cost"}max=? [C<=9]', 'R{"cost"}min=? [I=4]',
    'R{"cost"}max=? [F "goal"]', 'R{"cost"}min=? [F "goal"]', 'LRAmax=? ["goal"]', 'R{"cost"}min=? [LRA]',
    "Pmax=? [G F s=0]", "Pmax=? [(F s=1) & (G s!=2)]",
)  # fmt: skip


@needs_storm
@settings(max_examples=40)
@given(models(), st.sampled_from([5, 7, 30, 1000]), st.sampled_from(sorted(METHODS)))
def test_intervals_hold_the_exact_value_and_values_without_are_near_it(
    given_model: ModelArrays, denominator: int, method: str
) -> None:
    text = written(given_model, denominator)
    for one, true in zip(answers(text, method), answers(text), strict=True):
        assert one.is_converged or method == "interval-iteration", one.formula
        assert float(one.value) == pytest.approx(float(true.value), rel=1e-4, abs=1e-5), one.formula
        assert one.lower is None or one.lower <= true.value <= one.upper, one.formula


def answers(text: str, method: str = "") -> list[Answer]:
    """The answers by a method; exact ones without."""
    given = program(text, file="x")
    wanted = properties("; ".join(QUESTIONS), given, file="x")
    model = build(given, wanted, exact=not method)
    return [check(model, one.formula, settings=CheckSettings(method=method or "auto")) for one in wanted]


def test_bounds_of_rounding_widen_with_steps_and_say_nothing_about_negative_values() -> None:
    near, far = after_steps(1.0, 10, 3), after_steps(1.0, 10_000, 3)

    assert near is not None
    assert far is not None
    assert far[0] < near[0] < 1.0 < near[1] < far[1]
    assert far[1] - far[0] < 2e-11
    assert after_steps(0.0, 10, 3) == (0.0, after_steps(0.0, 10, 3)[1])
    assert after_steps(-1.0, 10, 3) is None
    assert after_steps(1.0, 10**16, 3) is None
