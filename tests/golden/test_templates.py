"""The fast search of every library intent and its formula agree on every golden case and every shipped case."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.cases.library import list_cases, load_case
from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify
from tests.golden.cases import EXPECTED, HERE, case_names, expected, options
from tests.oracles.templates import as_ltl

VARIANTS = [(case.name, variant.name, variant.expected) for case in list_cases() for variant in case.variants]


def _as_formulas(loaded: Loaded, asked: VerifyOptions) -> VerifyResult:
    intents = tuple(as_ltl(intent) for intent in loaded.scenario.intents)
    return verify(replace(loaded, scenario=replace(loaded.scenario, intents=intents)), asked)


@pytest.mark.parametrize("name", case_names())
def test_formulas_agree_with_library_intents_on_golden_cases(name):
    inputs = [str(file) for file in sorted((HERE / name).glob("*.yaml")) if file.name != EXPECTED]
    known = expected(name)["intents"]

    result = _as_formulas(load(inputs), options(name, "auto"))

    assert {one.intent: one.verdict for one in result.results} == {
        intent: answer if isinstance(answer, str) else answer["verdict"] for intent, answer in known.items()
    }


@pytest.mark.parametrize(("case", "variant", "verdict"), VARIANTS)
def test_formulas_agree_with_library_intents_on_shipped_cases(case, variant, verdict):
    assert _as_formulas(load(load_case(case, variant)), VerifyOptions()).verdict == verdict
