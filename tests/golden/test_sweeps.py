"""Sweeps of the shipped cases: small ones of all variants, and where those of violating variants end."""

import pytest

from kubeproof.cases.esc import read_shipped_esc
from kubeproof.cases.library import find_case, find_variant
from kubeproof.cases.run import sweep_case
from kubeproof.cluster.scale import Limit
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.scaling.plan import SweepOptions

# Kivi tries so many sizes at its ESC until a variant fails; ours fail earlier where decision 0013 says why.
TRIED_AT_ESC = {"c1": 1, "c2": 2, "c3": 58, "c4": 3, "c5": 2, "c6": 2, "c7": 2, "c8": 70}
EXPECTED = {"violating": "VIOLATED", "safe": "HOLDS"}
FOR_ANY_SIZE = {"c2", "c3", "c4", "c5", "c6", "c7", "c8"}
VARIANTS = [(case, variant) for case in sorted(TRIED_AT_ESC) for variant in EXPECTED]


def swept(case, variant, limit):
    chosen = find_case(case), find_variant(find_case(case), variant)
    return sweep_case(chosen, VerifyOptions(), SweepOptions(limit=limit), read_shipped_esc(), keep_result=True)


@pytest.mark.parametrize(("case", "variant"), [pair for pair in VARIANTS if pair != ("c4", "violating")])
def test_small_sweeps_have_the_expected_verdicts(case, variant):
    run = swept(case, variant, Limit(2, 2))

    expected = "HOLDS-BOUNDED" if variant == "safe" and case not in FOR_ANY_SIZE else EXPECTED[variant]
    assert (run.verdict, run.as_expected, run.problem) == (expected, True, "")


@pytest.mark.parametrize("case", sorted(TRIED_AT_ESC))
def test_violating_variants_end_at_the_same_size_of_the_esc_sweep(case):
    run = swept(case, "violating", "esc")

    verdicts = [line.verdict for line in run.result.sweep.sizes]
    assert (run.verdict, verdicts.index("VIOLATED") + 1) == ("VIOLATED", TRIED_AT_ESC[case])


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(TRIED_AT_ESC))
def test_safe_variants_hold_up_to_the_esc(case):
    assert swept(case, "safe", "esc").verdict == ("HOLDS" if case in FOR_ANY_SIZE else "HOLDS-BOUNDED")
