"""The shipped cases: complete, readable, and the same as one stream."""

from __future__ import annotations

import pytest

from kubeproof.cases.library import Case, find_case, find_variant, list_cases, load_case, text_of
from kubeproof.errors import UsageError
from kubeproof.intents.declarations import Intent
from kubeproof.manifests.load import load, load_texts

MAIN_WORKLOADS = {
    "c9": "Deployment/shop/recommender",
    "c10": "Deployment/shop/api",
    "c12": "Deployment/metrics/ingester",
}
EVERY = [(case.name, variant.name) for case in list_cases() for variant in case.variants]


def test_every_case_has_a_violating_and_a_safe_variant() -> None:
    assert [case.name for case in list_cases()] == [f"c{number}" for number in range(1, 17)]
    assert [[v.name for v in case.variants if not v.is_extra] for case in list_cases()] == [
        ["violating", "safe"]
    ] * len(list_cases())


def test_further_variants_are_extra() -> None:
    assert [pair for pair in EVERY if pair[1] not in ("violating", "safe")] == [
        ("c1", "safe-readiness"),
        ("c6", "safe-descheduler"),
        ("c6", "violating-descheduler"),
        ("c9", "safe-prepulled"),
        ("c10", "safe-no-scale-down"),
        ("c14", "safe-spread"),
        ("c15", "safe-min"),
    ]


def test_variants_expect_what_their_names_say() -> None:
    expected = {
        (variant.name.partition("-")[0], variant.expected) for case in list_cases() for variant in case.variants
    }

    assert expected == {("violating", "VIOLATED"), ("safe", "HOLDS")}


def test_a_case_tells_its_scale_and_its_origin() -> None:
    case = find_case("C8")

    assert (case.name, case.nodes, case.pods) == ("c8", 3, 6)
    assert case.source == "Kivi (USENIX ATC'24), case C8; kubernetes-sigs/descheduler#1219"
    assert "ReplicaSet" in case.controllers
    assert case.explain.endswith("The defect: TopologySpread decides per constraint.")


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_a_case_loads_with_nothing_left_out(name: str, variant: str) -> None:
    case, loaded = find_case(name), load(load_case(name, variant))

    assert loaded.omissions == ()
    assert sum(not node.is_slot for node in loaded.setup.nodes) == case.nodes
    main = MAIN_WORKLOADS.get(name, "Deployment/shop/web")
    assert [w.ref for w in loaded.setup.workloads if w.ref in (main, "Deployment/shop/web")] == [main]


@pytest.mark.parametrize("case", list_cases(), ids=lambda case: str(case.name))
def test_a_repair_keeps_the_intents(case: Case) -> None:
    intents: set[tuple[Intent, ...]] = {load(load_case(case.name, v.name)).scenario.intents for v in case.variants}

    assert len(intents) == 1


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_a_case_is_the_same_as_one_stream(name: str, variant: str) -> None:
    apart, together = load(load_case(name, variant)), load_texts([("all.yaml", text_of(name, variant))])

    assert (together.setup, together.scenario) == (apart.setup, apart.scenario)


def test_what_does_not_exist_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match=r"there is no case 'c99'\. There are: c1, c2"):
        load_case("c99")
    with pytest.raises(UsageError, match=r"case c2 has no variant 'best'\. There are: violating, safe\."):
        find_variant(find_case("c2"), "best")
