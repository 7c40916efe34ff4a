"""PRISM programs and their properties: what is read, what is refused, and where it says so."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kubeproof.errors import ProgramError, QuantityError, UsageError
from kubeproof.quantify.checking import check
from kubeproof.quantify.methods import CheckSettings
from kubeproof.quantify.prism.building import build
from kubeproof.quantify.prism.programs import Program, program, properties
from tests.unit.quantify.programs import COIN, needs_storm

pytestmark = needs_storm


def coin() -> Program:
    return program(COIN, file="coin.prism", constants={"p": "0.4"})


def value_of(text: str, *, exact: bool = False, **settings: object) -> object:
    wanted = properties(text, coin(), file="coin.props")
    return check(build(coin(), wanted, exact=exact), wanted[0].formula, settings=CheckSettings(**settings))


def test_a_model_is_built_whole_even_if_one_property_stops_early() -> None:
    model = build(coin(), properties('Pmax=? [F "done"]', coin(), file="x"))

    assert (model.kind, model.states, model.choices, model.transitions, model.deadlocks) == ("mdp", 5, 6, 11, 0)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("Pmax=? [F s=1]", Fraction(2, 5)),
        ("Pmin=? [s<3 U s=3]", Fraction(1, 4)),
        ('R{"cost"}max=? [F s=4]', Fraction(30, 7)),
        ('R{"cost"}max=? [C<=10]', Fraction(4285688979, 10**9)),
        ("Pmin=? [F[2,5] s=3]", Fraction(6, 25)),
        ("Pmax=? [F<=3 s=3]", Fraction(973, 1000)),
        ('R{"cost"}min=? [I=3]', Fraction(27, 1000)),
    ],
)
def test_the_bounds_hold_the_exact_value(text: str, exact: Fraction) -> None:
    found = value_of(text)

    assert value_of(text, exact=True).value == exact
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower <= 2.01e-6 * exact
    assert found.is_converged


@pytest.mark.parametrize(
    ("text", "guarantee"),
    [
        ("Pmax=? [F s=1]", "interval"),
        ('R{"cost"}max=? [C<=10]', "rounding"),
        ("Pmax=? [F P>0.5 [F s=1]]", "none"),
        ("Pmax=? [G F s=4]", "none"),
        ('R{"cost"}max=? [LRA]', "none"),
    ],
)
def test_what_a_value_rests_on_is_told(text: str, guarantee: str) -> None:
    found = value_of(text)

    assert found.guarantee == guarantee
    assert (found.lower is None) == (guarantee == "none")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("P>=0.25 [s<3 U s=3]", None),  # the value is 1/4: no approximation can tell
        ("P>=0.2499 [s<3 U s=3]", True),
        ("P>0.2501 [s<3 U s=3]", False),
        ("P<=0.3 [F s=1]", False),  # the greatest probability counts
        ("P>=1 [F s=4]", True),
        ("!P<0.3 [F s=3]", True),
    ],
)
def test_a_threshold_is_decided_by_the_bounds(text: str, holds: bool | None) -> None:
    found = value_of(text)

    assert found.is_question
    assert found.holds is holds
    assert found.is_converged is (holds is not None)


def test_exact_arithmetic_decides_a_threshold_that_is_met_with_equality() -> None:
    assert value_of("P>=0.25 [s<3 U s=3]", exact=True).holds is True
    assert value_of("P>0.25 [s<3 U s=3]", exact=True).holds is False


def test_too_few_iterations_give_an_interval_that_is_not_called_converged() -> None:
    found = value_of('R{"cost"}max=? [F s=4]', method="interval-iteration", max_iterations=2)

    assert found.lower <= Fraction(30, 7) <= found.upper
    assert not found.is_converged


def test_too_few_iterations_without_bounds_are_not_called_converged() -> None:
    assert not value_of('R{"cost"}max=? [F s=4]', max_iterations=2).is_converged


@pytest.mark.parametrize(
    ("line", "old", "new", "place"),
    [
        ("a missing semicolon", "(1-p):(s'=2);", "(1-p):(s'=2)", "coin.prism:6:"),
        ("an unknown name", "(s'=3)", "(s'=q)", "coin.prism:6:"),
    ],
)
def test_a_program_that_cannot_be_parsed_is_refused_at_its_place(line: str, old: str, new: str, place: str) -> None:
    with pytest.raises(ProgramError, match="cannot be parsed") as problem:
        program(COIN.replace(old, new, 1), file="coin.prism", constants={"p": "0.4"})

    assert str(problem.value).startswith(f"E207 {place}")
    assert problem.value.column > 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(1-p)", "0.5", "do not sum to one"),
        ("0.7:", "0.7000001:", "do not sum to one"),
        ("2/3:(s'=4)", "2/3:(s'=7)", "out-of-bounds value"),
    ],
)
def test_rows_and_ranges_are_checked(old: str, new: str, message: str) -> None:
    wrong = program(COIN.replace(old, new), file="coin.prism", constants={"p": "0.4"})

    with pytest.raises(ProgramError, match=message):
        build(wrong, ())


def together(share: str = "0.1") -> str:
    """Four modules whose commands happen together; rounding keeps their products from adding up to 1."""
    return "mdp\n" + "".join(
        f"module m{n}\n x{n} : [0..2] init 0;\n"
        f" [a] x{n}=0 -> {share}:(x{n}'=1) + 0.7:(x{n}'=2) + 0.2:true;\nendmodule\n"
        for n in range(4)
    )


@pytest.mark.parametrize("share", ["0.1", "x0=0 ? 0.1 : 0.2"])
def test_rounding_in_products_of_commands_is_no_error(share: str) -> None:
    assert build(program(together(share), file="x"), ()).states == 81


def test_a_program_with_rounded_products_can_be_built_again() -> None:
    given = program(together(), file="x")

    assert [build(given, ()).states, build(given, ()).states] == [81, 81]


def test_ranges_are_checked_where_products_of_commands_are_rounded() -> None:
    with pytest.raises(ProgramError, match="an update leads to an out-of-bounds value"):
        build(program(together() + "module n\n y : [0..1] init 0;\n [] x0=2 -> (y'=2);\nendmodule\n", file="x"), ())


def test_a_sum_that_is_wrong_is_found_where_products_of_commands_are_rounded() -> None:
    with pytest.raises(ProgramError, match="do not sum to one"):
        build(program(together("0.10000001"), file="x"), ())


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({}, r"E202 coin.prism: constants without a value: p. Add --const p=…."),
        ({"p": "many"}, "E202 --const: 'p=many': Unable to parse 'many' as a rational number."),
    ],
)
def test_constants_without_a_usable_value_are_wrong_usage(constants: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as problem:
        program(COIN, file="coin.prism", constants=constants)

    assert str(problem.value).startswith(message)


def test_a_constant_that_nobody_declares_is_wrong_usage() -> None:
    given = program(COIN, file="coin.prism", constants={"p": "0.4", "q": "1"})

    with pytest.raises(UsageError, match="--const q: no constant of the program or its properties"):
        properties('Pmax=? [F "done"]', given, file="x")


def test_properties_may_declare_constants_of_their_own() -> None:
    given = program(COIN, file="coin.prism", constants={"p": "0.4", "k": "3"})
    wanted = properties("const int k;\nPmax=? [F<=k s=3]", given, file="x")

    assert check(build(given, wanted, exact=True), wanted[0].formula).value == Fraction(973, 1000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\nPmax=? [F x=1]", "E208 coin.props:3:10: cannot be parsed, expecting <basic path formula>."),
        ("Pmax=?", "E208 coin.props:1:7: cannot be parsed"),
        ('Pmax=? [F "lost"]', "E208 coin.prism: there is no label 'lost'. The program has: done."),
        ('R{"gain"}max=? [F s=4]', "E208 coin.prism: there are no rewards 'gain'. The program has: cost."),
        ("const int k; Pmax=? [F<=k s=3]", "E208 coin.props: the property Pmax=? [true U<=k (s = 3)] has constants"),
        ("filter(max, Pmax=? [F s=3], s>0)", "E208 coin.props: the property Pmax=? [F (s = 3)] has a filter."),
        ("P=? [F s=3]", "E208 property P=? [F (s = 3)]: cannot be checked: Formula needs to specify whether minimal"),
        ('"a": Pmax=? [F s=3]; "a": Pmin=? [F s=3]', "E208 coin.props: "),
    ],
)
def test_a_property_that_cannot_be_used_is_wrong_usage(text: str, message: str) -> None:
    with pytest.raises(QuantityError) as problem:
        value_of(text)

    assert str(problem.value).startswith(message)


def test_rewards_that_are_not_named_are_wrong_usage_where_there_is_not_just_one() -> None:
    without = COIN.partition("rewards")[0]
    given = program(without, file="coin.prism", constants={"p": "0.4"})

    with pytest.raises(QuantityError) as problem:
        build(given, properties("Rmax=? [F s=4]", given, file="x"))
    assert str(problem.value) == ("E208 coin.prism: rewards without a name. Name them; the program has: none.")


def test_several_initial_states_give_a_range() -> None:
    text = COIN.replace(" init 0", "") + "init s<2 endinit\n"
    given = program(text, file="x", constants={"p": "0.4"})
    wanted = properties("Pmax=? [F s=2]", given, file="x")

    found = check(build(given, wanted), wanted[0].formula)

    assert (found.value, found.initial_states) == (None, 2)
    assert found.lower == pytest.approx(3 / 8, abs=1e-6)  # from s=1: half of what s=0 has
    assert found.upper == pytest.approx(3 / 4, abs=1e-6)


CHAIN = """ctmc
module chain
  s : [0..2] init 0;
  [] s=0 -> 3:(s'=1);
  [] s=1 -> 1:(s'=0) + 2:(s'=2);
  [] s=2 -> 1:(s'=2);
endmodule
rewards "alive" s<2 : 1; endrewards
"""


def test_in_continuous_time_rewards_at_a_moment_agree_with_probabilities() -> None:
    given = program(CHAIN, file="x")
    wanted = properties('R{"alive"}=? [I=1]; P=? [F<=1 s=2]; T=? [F s=2]', given, file="x")
    model = build(given, wanted)

    alive, dead, time = (check(model, one.formula) for one in wanted)

    assert alive.value == pytest.approx(1 - dead.value, abs=1e-5)  # who has died stays dead
    assert dead.value == pytest.approx(0.61881342, abs=1e-6)
    assert time.value == pytest.approx(1, rel=1e-5)
    assert {alive.guarantee, dead.guarantee} == {"none"}  # an approximation, not a number of steps


@pytest.mark.parametrize(
    "text",
    [
        "pomdp\nobservables s endobservables\nmodule m\n s : [0..1] init 0;\n [a] s=0 -> (s'=1);\nendmodule\n",
        "smg\nplayer p m endplayer\nmodule m\n s : [0..1] init 0;\n [] s=0 -> (s'=1);\nendmodule\n",
    ],
)
def test_models_of_other_kinds_are_refused(text: str) -> None:
    with pytest.raises(ProgramError, match=r"is a stochastic game|is partially observable"):
        program(text, file="x")


def test_several_objectives_at_once_are_refused() -> None:
    with pytest.raises(QuantityError, match="cannot be checked: Storm gives no value for such a property"):
        value_of('multi(Pmax=? [F "done"], R{"cost"}min=? [F s=4])')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.3:(s'=0) + 0.7:(s'=3)", "(1-s)/2:(s'=0) + (1+s)/2:(s'=3)"),  # probabilities that differences may spoil
        ("s<3 : 1;", "s<3 : 2-s/3;"),
        ("s<3 : 1;", "s<3 : s<3 ? 0.3-0.1*s-0.3+1e-17 : 1;"),
    ],
)
def test_what_may_lose_digits_has_no_bounds_of_rounding(old: str, new: str) -> None:
    given = program(COIN.replace(old, new), file="x", constants={"p": "0.4"})
    wanted = properties('R{"cost"}max=? [C<=10]', given, file="x")

    found = check(build(given, wanted), wanted[0].formula)

    assert (found.lower, found.upper, found.guarantee) == (None, None, "none")
