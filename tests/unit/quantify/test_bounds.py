"""Bounds hold the true value also where numbers are next to 0 or 1, and rewards of both signs are not iterated for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kubeproof.errors import QuantityError
from kubeproof.quantify.checking import Answer, check
from kubeproof.quantify.methods import CheckSettings
from kubeproof.quantify.prism.building import build
from kubeproof.quantify.prism.programs import program, properties
from tests.unit.quantify.programs import needs_storm

pytestmark = needs_storm

# The goal is missed with 1e-19, which is less than rounding does to 1.
ALMOST_SURE = """{kind}
module m
  s : [0..2] init 0;
  [] s=0 -> 0.9999999999999999999:(s'=1) + 0.0000000000000000001:(s'=2);
  [] s>0 -> true;
endmodule
label "goal" = s=1;
"""
# The goal is reached with 1e-400, which double precision rounds to 0.
HARDLY = """{kind}
const double e = 1e-200;
module m
  s : [0..3] init 0;
  [] s=0 -> e:(s'=1) + (1-e):(s'=3);
  [] s=1 -> e:(s'=2) + (1-e):(s'=3);
  [] s>1 -> true;
endmodule
label "goal" = s=2;
"""
# By hand: V = -1 + 2/3 (13 * -3 + V), so that V = -81 by [a]; V = 6/7 (13 * -3 + V), so that V = -234 by [b].
SIGNED = """mdp
module m
  s : [0..2] init 0;
  [a] s=0 -> 1/3:(s'=1) + 2/3:(s'=2);
  [b] s=0 -> 1/7:(s'=1) + 6/7:(s'=2);
  [] s=1 -> 1/11:(s'=0) + 10/11:(s'=1);
  [] s=2 -> 1/13:(s'=0) + 12/13:(s'=2);
endmodule
label "goal" = s=1;
rewards "gain" s=1 : 2; s=2 : -3; [a] true : -1; endrewards
rewards "visits" s=1 : 1; endrewards
"""
CHAIN = SIGNED.replace("mdp", "dtmc").replace("  [b] s=0 -> 1/7:(s'=1) + 6/7:(s'=2);\n", "")


def answer(text: str, asked: str, *, exact: bool = False, **settings: object) -> Answer:
    given = program(text, file="x")
    wanted = properties(asked, given, file="x")
    return check(build(given, wanted, exact=exact), wanted[0].formula, settings=CheckSettings(**settings))


@pytest.mark.parametrize(("kind", "best"), [("dtmc", ""), ("mdp", "max"), ("mdp", "min")])
@pytest.mark.parametrize("text", [ALMOST_SURE, HARDLY])
@pytest.mark.parametrize("path", ['F "goal"', 'G !"goal"'])
def test_what_is_next_to_0_or_1_lies_within_its_bounds(text: str, kind: str, best: str, path: str) -> None:
    asked = f"P{best}=? [{path}]"
    found, true = (answer(text.format(kind=kind), asked, exact=exact) for exact in (False, True))

    assert 0 <= found.lower <= true.value <= found.upper <= 1
    assert found.upper - found.lower < 2.1e-9
    assert (found.guarantee, found.is_converged) == ("interval", True)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (ALMOST_SURE, 'P>=1 [F "goal"]'),
        (ALMOST_SURE, 'P<=0 [G !"goal"]'),
        (HARDLY, 'P>0 [F "goal"]'),
        (HARDLY, 'P>=1 [G !"goal"]'),
    ],
)
@pytest.mark.parametrize("kind", ["dtmc", "mdp"])
def test_a_threshold_of_0_or_1_that_rounding_hides_stays_open(text: str, asked: str, kind: str) -> None:
    assert answer(text.format(kind=kind), asked).holds is None
    assert answer(text.format(kind=kind), asked, exact=True).holds is (asked == 'P>0 [F "goal"]')


@pytest.mark.parametrize(
    ("asked", "value"), [("P=? [F s<3]", 1.0), ("P=? [F s=4]", 0.0), ("P=? [G s<4]", 1.0), ("P=? [G s=4]", 0.0)]
)
def test_what_the_graph_says_is_certain(asked: str, value: float) -> None:
    found = answer(HARDLY.format(kind="dtmc").replace("[0..3]", "[0..4]"), asked)

    assert (found.lower, found.value, found.upper) == (value, value, value)


RARE = """{kind}
module m
  s : [0..2] init 0;
  [] s=0 -> {share}:(s'=1) + {share}:(s'=2) + 1-2*{share}:(s'=0);
  [] s>0 -> true;
endmodule
label "goal" = s=2;
rewards "steps" s=0 : 1; endrewards
"""


@pytest.mark.parametrize(("kind", "best"), [("dtmc", ""), ("mdp", "max"), ("mdp", "min")])
@pytest.mark.parametrize("share", ["1/1000000000000", "(s=0 ? 1/1000000000000 : 1/2)"])
def test_what_is_left_beside_a_probability_next_to_1_widens_the_bounds(kind: str, best: str, share: str) -> None:
    """Either way with 1/2, after half of 1e12 steps; by rounded numbers Storm finds 0.500011, and 2e-5 more steps."""
    text = RARE.format(kind=kind, share=share)
    chance, steps = (answer(text, f"{asked[0]}{best}{asked[1:]}") for asked in ('P=? [F "goal"]', "R=? [F s>0]"))

    assert chance.lower <= Fraction(1, 2) <= chance.upper
    assert steps.lower <= 10**12 // 2 <= steps.upper
    assert (chance.is_converged, steps.is_converged) == (False, False)


@pytest.mark.parametrize(
    ("text", "asked", "value"),
    [
        (SIGNED, 'R{"gain"}max=? [F "goal"]', Fraction(-81)),
        (SIGNED, 'R{"gain"}min=? [F "goal"]', Fraction(-234)),
        (SIGNED, 'R{"gain"}max=? [LRA]', Fraction(-59, 40)),  # a cycle by [a]: -1 + 11/3 * 2 - 26/3 * 3 in 40/3 steps
        (CHAIN, 'R{"gain"}=? [F "goal"]', Fraction(-81)),
        (CHAIN, 'R{"gain"}=? [LRA]', Fraction(-59, 40)),
        (CHAIN, 'R{"gain"}=? [C{"visits"}<=4]', Fraction(-1127, 11)),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"is_sound": False}, {"method": "interval-iteration"}])
def test_negative_rewards_are_computed_with_fractions_or_not_at_all(
    text: str, asked: str, value: Fraction, settings: dict[str, object]
) -> None:
    with pytest.raises(QuantityError, match=r"some of the rewards are negative.*Compute with --exact"):
        answer(text, asked, **settings)

    assert answer(text, asked, exact=True).value == value


@pytest.mark.parametrize("asked", ['R{"gain"}max=? [C<=40]', 'R{"gain"}max=? [I=40]', 'R{"visits"}max=? [F s=2]'])
def test_negative_rewards_do_no_harm_to_bounded_steps_and_to_other_rewards(asked: str) -> None:
    found, true = (answer(SIGNED, asked, exact=exact) for exact in (False, True))

    assert found.value == pytest.approx(float(true.value), rel=1e-6)
