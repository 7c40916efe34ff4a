"""Sweeps, fronts, functions of constants, regions and policies of PRISM programs."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeproof.cli.main import main
from kubeproof.errors import KubeproofError, ProgramError, QuantityError, UsageError
from kubeproof.quantify.prism.polynomials import Polynomial
from kubeproof.quantify.prism.ranges import list_cases, read_range
from kubeproof.quantify.run import PrismOptions, check_prism
from kubeproof.report.quantify.model_page import as_html, as_svg
from kubeproof.report.quantify.models import as_json
from kubeproof.verdicts import Verdict
from tests.unit.quantify.programs import COIN, needs_storm, run_apart

EXAMPLES = Path(__file__).parents[3] / "examples" / "14-trade-offs"
SHOP, NODES = str(EXAMPLES / "shop.prism"), str(EXAMPLES / "nodes.prism")
FRONT = 'multi(R{"overload"}min=? [C], R{"podminutes"}min=? [C])'
CHAIN_FRONT = 'multi(Pmax=? [F "both_down"], R{"hours"}min=? [C])'
HOURS = 'R{"hours"}=? [F "both_down"]'


# -- ranges -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1..4", ("1", "2", "3", "4")),
        ("-2..2/2", ("-2", "0", "2")),
        ("0.1..0.5/0.2", ("0.1", "0.3", "0.5")),
        ("1e-3..3e-3/1e-3", ("0.001", "0.002", "0.003")),
    ],
)
def test_a_range_stands_for_its_values(text: str, values: tuple[str, ...]) -> None:
    found = read_range("N", text, "--const")

    assert found is not None
    assert found.values == values


def test_broken_numbers_are_tried_in_twentieths() -> None:
    found = read_range("p", "0.0..1.0/0.05", "--const")
    plain = read_range("p", "0.5..1.5", "--const")

    assert found is not None
    assert plain is not None
    assert (len(found.values), len(plain.values), plain.values[1]) == (21, 21, "0.55")


@pytest.mark.parametrize("text", ["4..1", "1..1", "1..2/0", "0..5000", "1..9/-1"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--const N="):
        read_range("N", text, "--const")


def test_ranges_are_combined_and_single_values_stay() -> None:
    swept, cases = list_cases({"N": "1..2", "on": "true", "p": "0.1..0.2/0.1"})

    assert swept == ("N", "p")
    assert [(case["N"], case["on"], case["p"]) for case in cases] == [
        ("1", "true", "0.1"), ("1", "true", "0.2"), ("2", "true", "0.1"), ("2", "true", "0.2"),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="at a time"):
        list_cases({"N": "1..40", "M": "1..40"})


# -- sweeps -------------------------------------------------------------------------------------


@needs_storm
def test_a_sweep_has_a_model_for_each_value(tmp_path: Path) -> None:
    file = tmp_path / "coin.prism"
    file.write_text(COIN)

    found = check_prism(str(file), PrismOptions(texts=('Pmax=? [F "done"]',), constants={"p": "0.1..0.3/0.1"}))

    assert found.swept == ("p",)
    assert [model.title for model in found.models] == ["p=0.1", "p=0.2", "p=0.3"]
    assert as_svg(found).count("<circle") == 3
    assert json.loads(as_json(found))["swept"] == ["p"]
    assert '"kind":"dot"' in as_html(found)


# -- fronts -------------------------------------------------------------------------------------


@needs_storm
def test_a_front_ends_at_the_best_of_each_goal() -> None:
    """Keeping one pod for 30 min costs 30 and is overloaded whenever load is high; a second one at once costs 59."""
    constants = {"N": "3", "burst": "0.1"}
    (model,) = check_prism(
        SHOP, PrismOptions(texts=(FRONT, 'R{"overload"}min=? [C]', 'R{"podminutes"}min=? [C]'), constants=constants)
    ).models

    (front,) = model.fronts
    least = [one.answer.value for one in model.results]
    assert [front.points[0][0], front.points[-1][1]] == pytest.approx(least, abs=1e-5)
    assert front.points[0][1] == pytest.approx(59, rel=1e-6)
    assert [x for x, _ in front.points] == sorted(x for x, _ in front.points)
    assert [y for _, y in front.points] == sorted((y for _, y in front.points), reverse=True)
    assert front.gap < 1e-4


@needs_storm
def test_every_corner_of_a_front_is_achievable_and_none_is_beaten() -> None:
    """An oracle: what weighs both goals by the slope of a side has its best value at both ends of that side."""
    constants = {"N": "3", "burst": "0.1"}
    (model,) = check_prism(SHOP, PrismOptions(texts=(FRONT,), constants=constants)).models
    points = model.fronts[0].points
    text = Path(SHOP).read_text()

    for one, other in pairwise(points):
        weight = (one[1] - other[1]) / (other[0] - one[0])
        both = f'rewards "both" minute<30 : pods + {weight:.12f} * (high & pods<2 ? 1 : 0); endrewards'
        best = _best(text + both, constants)
        assert one[1] + weight * one[0] == pytest.approx(best, rel=1e-5)
        assert other[1] + weight * other[0] == pytest.approx(best, rel=1e-5)


def _best(text: str, constants: dict[str, str]) -> float:
    from kubeproof.quantify.checking import check
    from kubeproof.quantify.prism.building import build
    from kubeproof.quantify.prism.programs import program, properties

    parsed = program(text, file="both", constants=constants)
    wanted = properties('R{"both"}min=? [C]', parsed, file="here")
    return float(check(build(parsed, wanted), wanted[0].formula).value or 0)


@needs_storm
@pytest.mark.parametrize(
    ("file", "options", "problem"),
    [
        (NODES, {"constants": {"fail": "0.1", "mend": "0.5"}, "texts": (CHAIN_FRONT,)}, "no decisions"),
        (SHOP, {"constants": {"N": "2", "burst": "0.1"}, "texts": (FRONT,), "exact": True}, "Leave out --exact"),
    ],
)  # fmt: skip
def test_fronts_that_there_are_not_are_refused(file: str, options: dict[str, object], problem: str) -> None:
    with pytest.raises(KubeproofError, match=problem):
        check_prism(file, PrismOptions(**options))  # type: ignore[arg-type]


# -- functions and regions ----------------------------------------------------------------------


def both_down(fail: Fraction, mend: Fraction) -> Fraction:
    """Expected hours until both nodes are down, from two equations."""
    stay, leave, lost = (1 - fail) ** 2, 2 * fail * (1 - fail), mend * (1 - fail)
    kept = (1 - mend) * (1 - fail) + mend * fail
    up = (1 + leave / (1 - kept)) / (1 - stay - leave * lost / (1 - kept))
    return up


@needs_storm
def test_a_chain_gives_a_function_with_its_slopes() -> None:
    options = PrismOptions(texts=(HOURS,), varied={"fail": "0.001..0.01", "mend": "0.1..0.9"})

    (model,) = check_prism(NODES, options).models

    (found,) = model.varied
    middle = {"fail": Fraction("0.0055"), "mend": Fraction("0.5")}
    for curve in found.curves:
        for at, value in curve.points[::10]:
            assert value == pytest.approx(float(both_down(**(middle | {curve.name: Fraction(at)}))), rel=1e-9)
    step, value = Fraction(1, 10**9), both_down(**middle)
    for each in found.sensitivities:
        slope = (both_down(**(middle | {each.name: middle[each.name] + step})) - value) / step
        assert each.slope == pytest.approx(float(slope), rel=1e-4)
        assert each.elasticity == pytest.approx(float(slope * middle[each.name] / value), rel=1e-4)
    assert (model.kind, model.states) == ("dtmc", 3)


@needs_storm
@pytest.mark.parametrize("most", [20_000, 60_000])
@pytest.mark.parametrize("varied", [{"fail": "0.001..0.01"}, {"fail": "0.001..0.01", "mend": "0.2..0.9"}])
def test_regions_are_on_the_right_side_of_the_threshold(most: int, varied: dict[str, str]) -> None:
    constants = {} if "mend" in varied else {"mend": "0.5"}
    goal = f'R{{"hours"}}<={most} [F "both_down"]'

    (found,) = check_prism(NODES, PrismOptions(texts=(goal,), varied=varied, constants=constants)).models[0].varied

    for region in found.regions:
        ends = dict(zip(varied, region.box, strict=True)) | {
            n: (Fraction(v), Fraction(v)) for n, v in constants.items()
        }
        greatest, least = both_down(ends["fail"][0], ends["mend"][1]), both_down(ends["fail"][1], ends["mend"][0])
        assert region.verdict != Verdict.HOLDS or greatest <= most
        assert region.verdict != Verdict.VIOLATED or least > most
    assert found.share(Verdict.UNKNOWN) < (0.01 if len(varied) == 1 else 0.1)
    assert found.verdict == Verdict.VIOLATED


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3), st.integers(0, 2)), max_size=5), st.data())
def test_polynomials_lie_where_they_are_said_to(terms: list[tuple[int, int, int]], data: st.DataObject) -> None:
    found: dict[tuple[tuple[str, int], ...], Fraction] = {}
    for factor, x, y in terms:
        found[("x", x), ("y", y)] = Fraction(factor)
    polynomial = Polynomial(tuple(found.items()))
    sides = [sorted(data.draw(st.tuples(*[st.fractions(-2, 2, max_denominator=8)] * 2))) for _ in "xy"]
    box = {name: (low, high) for name, (low, high) in zip("xy", sides, strict=True)}
    at = {name: data.draw(st.fractions(low, high, max_denominator=50)) for name, (low, high) in box.items()}

    low, high = polynomial.within(box)

    value = sum((factor * at["x"] ** x[1] * at["y"] ** y[1] for (x, y), factor in found.items()), Fraction(0))
    assert low <= value <= high
    assert polynomial.minus(Fraction(1), polynomial).terms == ()


@needs_storm
def test_of_decisions_the_ends_and_the_regions_are_told() -> None:
    (model,) = check_prism(
        SHOP,
        PrismOptions(
            texts=('R{"overload"}min=? [F minute=30]', 'R{"overload"}<=6 [F minute=30]'),
            varied={"burst": "0.05..0.15"},
            constants={"N": "1"},
        ),
    ).models

    ends, regions = model.varied
    assert ends.least is not None
    assert ends.greatest is not None
    assert 0 < ends.least < 6 < ends.greatest < 30
    assert {region.verdict for region in regions.regions} >= {Verdict.HOLDS, Verdict.VIOLATED}
    for region in regions.regions[::4]:
        for corner in region.box[0]:
            constants = {"N": "1", "burst": str(float(corner))}
            worst = PrismOptions(texts=('R{"overload"}max=? [F minute=30]',), constants=constants)
            (value,) = check_prism(SHOP, worst).models[0].results
            met = value.answer.value is not None and value.answer.value <= 6
            assert region.verdict == Verdict.UNKNOWN or met == (region.verdict == Verdict.HOLDS)


@needs_storm
@pytest.mark.parametrize(
    ("varied", "texts", "problem"),
    [
        ({"fail": "0.1"}, (HOURS,), "is no range"),
        ({"wrong": "0.1..0.2"}, (HOURS,), "no open constant"),
        ({"fail": "0.1..0.2"}, (HOURS,), "without a value: mend"),
        ({"fail": "0.1..0.2", "mend": "0.1..0.2"}, ('P=? [F<=5 "both_down"]',), "no short function"),
    ],
)
def test_what_cannot_be_varied_is_refused(varied: dict[str, str], texts: tuple[str, ...], problem: str) -> None:
    with pytest.raises(KubeproofError, match=problem):
        check_prism(NODES, PrismOptions(texts=texts, varied=varied))


# -- decisions ----------------------------------------------------------------------------------


@needs_storm
def test_the_first_minute_is_for_a_second_pod() -> None:
    goal = 'Pmin=? [F "overloaded"]'
    options = PrismOptions(texts=(goal,), constants={"N": "2", "burst": "0.1"}, policy=goal)

    (strategy,) = check_prism(SHOP, options).models[0].strategies

    first = strategy.choices[0]
    assert dict(first.state) == {"high": False, "minute": 0, "pods": 1}
    assert (first.best, first.possible) == ("add", ("keep", "add"))
    assert {choice.best for choice in strategy.choices[1:]} == {"keep"}
    assert strategy.states == 61


@needs_storm
@pytest.mark.parametrize(
    ("file", "constants", "goal", "problem"),
    [
        (NODES, {"fail": "0.1", "mend": "0.5"}, HOURS, "no decisions"),
        (SHOP, {"N": "2", "burst": "0.1"}, 'Pmin<=0.1 [F "overloaded"]', "threshold"),
    ],
)
def test_policies_that_there_are_not_are_refused(file: str, constants: dict[str, str], goal: str, problem: str) -> None:
    options = PrismOptions(texts=(goal,), constants=constants)
    name = check_prism(file, options).models[0].results[0].name

    with pytest.raises(QuantityError, match=problem):
        check_prism(file, PrismOptions(texts=(goal,), constants=constants, policy=name))


@needs_storm
@pytest.mark.parametrize(("kind", "problem"), [("smg", "stochastic game"), ("pomdp", "partially observable")])
def test_games_are_refused_with_the_reason(tmp_path: Path, kind: str, problem: str) -> None:
    player = "player one [a] endplayer\n" if kind == "smg" else "observables s endobservables\n"
    file = tmp_path / "game.prism"
    file.write_text(f"// a game\n{kind}\n{player}module m\n  s : [0..1] init 0;\n  [a] true -> (s'=1);\nendmodule\n")

    with pytest.raises(ProgramError, match=problem):
        check_prism(str(file), PrismOptions(texts=("Pmax=? [F s=1]",)))


# -- reports ------------------------------------------------------------------------------------


@needs_storm
def test_all_formats_tell_all_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["quantify", "prism", SHOP, "--const", "N=2,burst=0.1", "-p", FRONT, "-p", 'Pmin=? [F "overloaded"]']
    outputs = [f"{kind}={tmp_path / kind}" for kind in ("json", "html", "svg")]

    words = [word for output in ("text", *outputs) for word in ("-o", output)]
    assert main([*command, "--policy", 'Pmin=? [F "overloaded"]', *words]) == 0

    text = capsys.readouterr().out
    assert "front of 3 corners" in text
    assert "Best decisions for" in text
    assert "2 properties (2 computed)" in text
    (model,) = json.loads((tmp_path / "json").read_text())["models"]
    assert model["fronts"][0]["objectives"][1] == {"property": 'R{"podminutes"}min=? [C]', "best": "min"}
    assert model["strategies"][0]["rows"][0]["best"] == "add"
    assert (tmp_path / "svg").read_text().count("<circle") == 3
    assert "Best decisions for" in (tmp_path / "html").read_text()


@needs_storm
def test_regions_are_told_in_text_and_drawn(tmp_path: Path) -> None:
    ended = run_apart(
        *("prism", NODES, "--const", "mend=0.5", "--vary", "fail=0.001..0.01", "-o", "text"),
        *("-p", 'R{"hours"}>=10000 [F "both_down"]', "-o", f"svg={tmp_path / 'regions.svg'}"),
    )

    assert ended.returncode == 1
    assert "HOLDS for fail from 0.001 to 0.005" in ended.stdout
    assert (tmp_path / "regions.svg").read_text().count("<rect") > 3
