"""The five autoscaling models: sizes, values, structure, policies."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from kubeproof.errors import UsageError
from kubeproof.quantify.prism.building import build
from kubeproof.quantify.prism.programs import program
from kubeproof.quantify.published.autoscaling import MODELS, autoscaling_program
from kubeproof.quantify.published.parameters import SETTINGS, MetricPoint, change, show
from kubeproof.quantify.published.policy import Policy, ranges
from kubeproof.quantify.published.run import AutoscalingOptions, check_autoscaling, parameters_of
from kubeproof.quantify.result import ModelResult
from tests.unit.quantify.programs import needs_storm

SMALL = {"horizon": "20"}
REFERENCE = Path(__file__).parent / "fixtures" / "small_reference.csv"
NAMES = dict(zip(("Base", "LM", "EM", "SM", "FM"), MODELS, strict=True))
STRICT = 'R{"energy_strict"}min=? [C<=100]'
QUESTIONS = (
    ('R{"energy_consumption"}max=? [C<=100]', "energy_max"),
    ('R{"energy_consumption"}min=? [C<=100]', "energy_min"),
    (STRICT, "energy_strict_min"),
    ('R{"high_scalability"}max=? [C<=100]', "high_scal_max"),
    ('R{"less_scalability"}max=? [C<=100]', "low_scal_max"),
)


def rows() -> list[dict[str, str]]:
    with open(REFERENCE, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def small(model: str, setting: int, *texts: str, **options: object) -> ModelResult:
    wanted = AutoscalingOptions((model,), (setting,), SMALL, 100, texts, **options)
    return check_autoscaling(wanted).models[0]


@needs_storm
@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['model']}-{row['setting']}")
def test_small_instances_agree_with_the_reference(row: dict[str, str]) -> None:
    result = small(NAMES[row["model"]], int(row["setting"]), *(text for text, _ in QUESTIONS))

    assert result.states == int(row["states"])
    assert result.transitions == int(row["storm_transitions"])
    assert result.choices == int(row["storm_choices"])
    for one, (_, column) in zip(result.results, QUESTIONS, strict=True):
        digits = len(row[column].partition(".")[2])
        rounded = 0.5 * 10.0**-digits if digits <= 3 else 0.0  # some rows were recorded with three digits
        assert one.answer.value == pytest.approx(float(row[column]), rel=1e-12, abs=rounded), column
        assert one.answer.guarantee == "rounding"


def structure_holds(sizes: dict[tuple[str, int], tuple[int, int, int]]) -> None:
    """The facts of the paper's Table 10 that do not depend on its unpublished constants."""
    for states, choices, transitions in sizes.values():
        assert transitions - choices == 2 * states  # one choice in three ways in every state
    assert sizes["energy", 3] == sizes["latency", 3]  # the response time is at its limit: nothing to save
    for setting in SETTINGS:
        base, latency, energy, scalability, full = (sizes[model, setting][0] for model in MODELS)
        assert base < latency <= min(energy, scalability)
        assert max(energy, scalability) < full


def sizes_with(changes: dict[str, str]) -> dict[tuple[str, int], tuple[int, int, int]]:
    """States, choices and transitions of all 20 instances."""
    sizes = {}
    for model in MODELS:
        for setting in SETTINGS:
            text = autoscaling_program(model, parameters_of(setting, changes)).text()
            built = build(program(text, file=model), ())
            sizes[model, setting] = (built.states, built.choices, built.transitions)
    return sizes


@needs_storm
def test_small_instances_have_the_structure_of_the_papers_table() -> None:
    structure_holds(sizes_with(SMALL))


@needs_storm
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("model", MODELS)
def test_power_stays_below_its_maximum_for_certain(model: str, setting: int) -> None:
    result = small(model, setting, names=("power_max", "power_min"))

    assert [(one.answer.lower, one.answer.value, one.answer.upper) for one in result.results] == [(1, 1, 1)] * 2


@needs_storm
def test_the_least_energy_is_that_of_idling_and_power_stays_below_its_maximum() -> None:
    result = small("latency", 4)
    found = {one.name: one.answer for one in result.results}

    assert list(found) == ["energy_max", "energy_min", "high_scalability", "low_scalability", "power_max", "power_min"]
    assert found["energy_min"].value == 100 * 170
    assert (found["power_max"].value, found["power_min"].value) == (1, 1)


@needs_storm
def test_exact_arithmetic_agrees_with_the_bounds_of_rounding() -> None:
    text = 'R{"high_scalability"}max=? [C<=20]'
    exact, rounded = (small("base", 2, text, exact=flag).results[0].answer for flag in (True, False))

    assert isinstance(exact.value, Fraction)
    assert rounded.lower <= exact.value <= rounded.upper
    assert rounded.upper - rounded.lower < 1e-11 * exact.value


@needs_storm
@pytest.mark.parametrize("model", MODELS)
def test_the_bisimilar_model_is_smaller_and_has_the_same_values(model: str) -> None:
    whole, reduced = (small(model, 1, reduce=flag) for flag in (False, True))

    assert (reduced.states, reduced.transitions, reduced.choices) == (whole.states, whole.transitions, whole.choices)
    assert "checked on a bisimilar model of" in reduced.notes[0]
    for one, other in zip(whole.results, reduced.results, strict=True):
        assert other.answer.value == pytest.approx(one.answer.value, rel=1e-12)


@needs_storm
@pytest.mark.slow
def test_full_instances_have_the_structure_of_the_papers_table() -> None:
    sizes = sizes_with({})

    structure_holds(sizes)
    assert sizes["base", 1] == (193740, 484868, 872348)
    assert sizes["full", 4] == (3105272, 13377728, 19588272)


@needs_storm
def test_the_energies_of_the_full_base_model_are_near_those_of_the_paper() -> None:
    result = full("base", 1, "energy_max", "energy_min")
    most, least = (one.answer.value for one in result.results)

    assert (result.states, result.choices, result.transitions) == (193740, 484868, 872348)
    assert least == 170_000
    assert most == pytest.approx(376_781.03, rel=0.05)
    assert most == pytest.approx(363_890.075, abs=5e-4)  # as recorded from Storm


def full(model: str, setting: int, *names: str, reduce: bool = True) -> ModelResult:
    wanted = AutoscalingOptions((model,), (setting,), names=names, reduce=reduce)
    return check_autoscaling(wanted).models[0]


@needs_storm
@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("model", ["base", "latency"])
def test_full_instances_have_the_papers_least_energy(model: str, setting: int) -> None:
    (least,) = full(model, setting, "energy_min").results

    assert least.answer.value == 170_000


@needs_storm
@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("model", MODELS)
def test_power_stays_below_its_maximum_for_certain_in_full_instances(model: str, setting: int) -> None:
    result = full(model, setting, "power_max", "power_min", reduce=False)

    assert [one.answer.value for one in result.results] == [1, 1]


def policy(model: str, name: str) -> Policy:
    found = small(model, 1, policy=name, names=(name,)).policy
    assert found is not None
    return found


@needs_storm
def test_to_save_energy_an_idle_cluster_is_left_alone() -> None:
    idle = [row for row in policy("base", "energy_min").rows if row.utilisation == 0]

    assert [(row.pods, row.best, row.possible) for row in idle] == [
        ((1, 10), (("do not scale",),), ("do not scale", "wait"))
    ]


@needs_storm
def test_a_behavior_is_suggested_where_the_policy_follows_one_rule() -> None:
    assert policy("base", "high_scalability").behavior == (
        "behavior:\n"
        "  scaleUp:\n"
        "    stabilizationWindowSeconds: 0\n"
        "    policies:\n"
        "    - {type: Percent, value: 100, periodSeconds: 2}\n"
        "  scaleDown:\n"
        "    selectPolicy: Disabled\n"
    )


@needs_storm
def test_no_behavior_is_suggested_where_decisions_differ() -> None:
    found = policy("base", "energy_min")

    assert found.behavior == ""
    assert found.reason.startswith("no behavior fits: whether or how to scale out")


@needs_storm
def test_there_is_no_policy_for_a_property_without_a_number_of_steps() -> None:
    with pytest.raises(UsageError, match="there is no policy for"):
        policy("base", "power_max")


def test_neighbouring_numbers_are_written_as_ranges() -> None:
    assert ranges([3, 1, 2, 7, 10, 9]) == "1-3, 7, 9-10"


def test_every_parameter_can_be_changed_by_name() -> None:
    given = change(SETTINGS[2], {"max_pods": "60", "point_b": "10/1/50", "weight_low": "0.2", "weight_high": "0.17"})

    assert given.init_pods == 50
    assert given.point_b == MetricPoint(10, 1, 50)
    assert dict(show(given))["point_b"] == "10/1/50"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pods": "3"}, "--set pods: there is no such parameter"),
        ({"max_pods": "many"}, "--set max_pods=many: not a number"),
        ({"point_a": "1/2"}, "--set point_a=1/2: not DEMAND/LATENCY/UTILISATION"),
        ({"weight_low": "0.2"}, "needed is weights that sum to 1"),
        ({"max_pods": "2000"}, "needed is 1 <= min_pods <= max_pods <= limit_pods"),
        ({"point_c": "1/0/101"}, "needed is utilisations between 0 and 100"),
    ],
)
def test_impossible_parameters_are_wrong_usage(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as problem:
        change(SETTINGS[1], given)

    assert message in str(problem.value)
