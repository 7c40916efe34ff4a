"""Fractions in thresholds, bounds and programs: in the PRISM language `/` never cuts off."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kubeproof.errors import ProgramError, QuantityError
from kubeproof.quantify.checking import Answer, check
from kubeproof.quantify.prism.building import build
from kubeproof.quantify.prism.expressions import value_of
from kubeproof.quantify.prism.programs import Program, program, properties
from tests.unit.quantify.programs import needs_storm, run_apart

pytestmark = needs_storm

THIRD = """dtmc
const double b = 9/10;
const double c;
const int N = 9;
module coin
  s : [0..2] init 0;
  [] s=0 -> 1/3:(s'=1) + 2/3:(s'=2);
  [] s>0 -> true;
endmodule
rewards "r" s=0 : 3; endrewards
"""


def third(**constants: str) -> Program:
    return program(THIRD, file="third.prism", constants={"c": "0.9", **constants})


def answer(text: str, *, exact: bool = True, **constants: str) -> Answer:
    given = third(**constants)
    wanted = properties(text, given, file="x")
    return check(build(given, wanted, exact=exact), wanted[0].formula)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    "threshold", ["0.9", "9/10", "9.0/10", "1-1/10", "b", "c", "N/10", "(N=9?9/10:0)", "max(9/10,1/2)", "9*pow(10,-1)"]
)
def test_nine_tenths_in_any_spelling(threshold: str, exact: bool) -> None:
    assert answer(f"P>={threshold} [F s=1]", exact=exact).holds is False
    assert answer(f"P<={threshold} [F s=1]", exact=exact).holds is True


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("P>1/3 [F s=1]", False),
        ("P>=1/3 [F s=1]", True),
        ("P<=1/3 [F s=1]", True),
        ("P<1/3 [F s=1]", False),
        ("P>=34/100 [F s=1]", False),
        ("P>mod(10,3)/3 [F s=1]", False),
        ("P>=0/5 [F s=1]", True),
        ('R{"r"}>=7/2 [C<=5]', False),
        ('R{"r"}>=5/2 [C<=5]', True),
        ('R{"r"}>=-1/2 [C<=5]', True),
        ('R{"r"}<=6/2 [C<=5]', True),
        ("const double q = 9/10; P>=q [F s=1]", False),
        ("P=1/3 [F s=1]", None),
    ],
)
def test_thresholds_are_compared_as_fractions(text: str, holds: bool | None) -> None:
    if holds is None:  # no comparison of Storm's
        with pytest.raises(QuantityError):
            answer(text)
    else:
        assert answer(text).holds is holds


@pytest.mark.parametrize("value", ["9/10", "0.9", "0.90"])
def test_constants_of_the_command_line_may_be_fractions(value: str) -> None:
    given = program(THIRD, file="third.prism", constants={"c": "0.5", "q": value})
    wanted = properties("const double q; P>=q [F s=1]", given, file="x")

    assert check(build(given, wanted, exact=True), wanted[0].formula).holds is False
    assert answer("P>=c [F s=1]", c=value).holds is False


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("floor(-9/10)", -1),
        ("ceil(7/2)", 4),
        ("round(7/2)", 4),
        ("mod(-7,4)", 1),
        ("1e-3", Fraction(1, 1000)),
        ("(1/2>0 & !(1/3>=1/2)) ? 1/4 : 2", Fraction(1, 4)),
        ("((1/2>0) = (1/2>=1) | 1/2 != 0.5) ? 1/4 : 1/8", Fraction(1, 8)),
        ("0.1+0.2", Fraction(3, 10)),
    ],
)
def test_an_expression_is_a_fraction(text: str, value: Fraction) -> None:
    formula = properties(f'R{{"r"}}>={text} [C<=1]', third(), file="x")[0].formula

    assert value_of(formula.threshold_expr) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("P>=3/2 [F s=1]", "is no probability"),
        ("P<=-1/2 [F s=1]", "is no probability"),
        ("P>=1/0 [F s=1]", "divides by zero"),
        ("P>=pow(1/2,1/2) [F s=1]", "no value that is a fraction"),
        ("P=? [F<=7/2 s=1]", r"bound \(7 / 2\) is no whole number of steps"),
        ("P=? [F<=3.5 s=1]", "is no whole number of steps"),
        ("P=? [F<2*(1/2) s=1]", "is no whole number of steps"),  # Storm would take 0
        ("P=? [F[1/2,3] s=1]", "is no whole number of steps"),
        ("P=? [F[1,N/2] s=1]", "is no whole number of steps"),
        ('R{"r"}=? [C<=7/2]', "is no whole number of steps"),
        ('R{"r"}=? [I=7/2]', "is no whole number of steps"),
        ("P>=1/2 [F s=1] & P>=0.5 [F<=5/2 s=1]", "is no whole number of steps"),
    ],
)
def test_what_is_no_threshold_and_no_number_of_steps_is_refused_before_building(text: str, reason: str) -> None:
    with pytest.raises(QuantityError, match=reason):
        properties(text, third(), file="x")


def test_whole_quotients_and_rounded_ones_bound_steps() -> None:
    assert answer("P=? [F<=ceil(1/2) s=1]").value == Fraction(1, 3)
    assert answer("P=? [F<=4/2 s=1]").value == Fraction(1, 3)
    assert answer("P=? [F<=floor(1/2) s=1]").value == 0


def test_continuous_time_may_be_cut_anywhere() -> None:
    given = program(THIRD.replace("dtmc", "ctmc"), file="x", constants={"c": "1"})
    half, other = (properties(f"P=? [F<={bound} s=1]", given, file="x") for bound in ("1/2", "0.5"))
    values = [check(build(given, wanted), wanted[0].formula).value for wanted in (half, other)]

    assert values[0] == values[1] == pytest.approx((1 - 2.718281828 ** (-0.5)) / 3, rel=1e-5)


@pytest.mark.parametrize(
    ("line", "instead", "what"),
    [
        ("const int N = 9;", "const int N = 7/2;", "the constant N"),
        ("(s'=1)", "(s'=s/2)", "the variable s"),
        ("(s'=1)", "(s'=half)", "the variable s"),
        ("[0..2]", "[0..5/2]", "the variable s"),
        ("init 0", "init 1/2", "the variable s"),
    ],
)
def test_a_division_is_no_whole_number(line: str, instead: str, what: str) -> None:
    text = THIRD.replace(line, instead) + "formula half = N/2;\n"
    with pytest.raises(ProgramError, match=rf"{what} is a whole number, but .* divides\. Write floor"):
        program(text, file="x", constants={"c": "1"})


def test_rounded_divisions_are_whole_numbers() -> None:
    text = THIRD.replace("(s'=1)", "(s'=ceil(N/2)-4)").replace("N = 9", "N = floor(19/2)")
    given = program(text, file="x", constants={"c": "1"})
    wanted = properties("P=? [F s=1]", given, file="x")

    assert check(build(given, wanted, exact=True), wanted[0].formula).value == Fraction(1, 3)


def test_the_autoscaling_models_know_fractions() -> None:
    words = ("autoscaling", "--set", "horizon=20", "-p")

    assert run_apart(*words, "P>=9/10 [F<=0 pod>99]").returncode == 1
    refused = run_apart(*words, "P>=3/2 [F<=0 pod>99]")
    assert (refused.returncode, "is no probability" in refused.stderr) == (2, True)
