"""The shipped cases: verdict and exact number of states of every variant, smallest violating sizes, why lines."""

import json

import pytest

from kubeproof.cases.library import find_case, find_variant, list_cases, load_case, read_golden
from kubeproof.cases.minimal import find_minimal
from kubeproof.cases.run import run_case
from kubeproof.cli.main import main
from kubeproof.manifests.load import load
from kubeproof.verify.resize import Size, resize
from kubeproof.verify.run import verify

GOLDEN = {case.name: read_golden(case.name) for case in list_cases()}  # as each stands beside its case
STATES = {(case, variant): states for case, golden in GOLDEN.items() for variant, states in golden.states.items()}


def test_the_states_of_every_shipped_variant_are_pinned():
    assert set(STATES) == {(case.name, variant.name) for case in list_cases() for variant in case.variants}


@pytest.mark.parametrize(("case", "variant"), sorted(STATES))
def test_every_variant_has_its_expected_verdict_and_number_of_states(case, variant):
    chosen = find_case(case), find_variant(find_case(case), variant)

    run = run_case(chosen)

    assert (run.verdict, run.states, run.problem) == (chosen[1].expected, STATES[case, variant], "")


@pytest.mark.parametrize("case", sorted(GOLDEN))
def test_the_smallest_violating_size_is_found(case):
    found = find_minimal(find_case(case))

    assert (found.size.node_total, found.size.pod_total) == GOLDEN[case].smallest


@pytest.mark.parametrize(("variant", "verdict", "states"), [("violating", "VIOLATED", 447), ("safe", "HOLDS", 16)])
def test_c8_is_the_same_at_the_size_of_its_report(variant, verdict, states):
    loaded = load(load_case("c8", variant))
    size = Size((("on-demand-1", 2), ("spot-1", 3)), (("Deployment/shop/web", 10),))

    result = verify(resize(loaded, loaded.scenario.scale, size))

    assert (result.verdict, result.statistics.states) == (verdict, states)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("c5", "counts as a target although it is full"),
        ("c8", "decides constraint by constraint"),
        ("c1", "cpu 100 % of request, target 50 %"),
        ("c10", "cpu 5 % of request, target 50 %"),
        ("c13", "web-1 has been told to stop; proxies may send to it for up to 7 s more"),
        ("c15", "groups: zone-a 1 of 0 to 2, zone-b 2 of 0 to 2; pods without a node: none"),
        ("c12", "would lose 1 of Deployment/metrics/ingester (priority 100), 1 of Deployment/metrics/report"),
    ],
)
def test_traces_tell_the_mechanism(case, words, capsys):
    assert main(["cases", "run", case]) == 0

    assert words in capsys.readouterr().out


def test_the_scores_of_c9_show_what_outweighs_what(capsys):
    assert main(["cases", "run", "c9", "-v"]) == 0

    shown = capsys.readouterr().out
    assert "2 x PodTopologySpread 66 + NodeResourcesBalancedAllocation 75 + ImageLocality 100" in shown
    assert "2 x PodTopologySpread 100 + NodeResourcesBalancedAllocation 75 + ImageLocality 0" in shown


def test_the_table_of_sizes_has_a_machine_form(capsys):
    assert main(["cases", "run", "c7", "--minimal", "-o", "json"]) == 0

    (row,) = json.loads(capsys.readouterr().out)["minimal"]
    assert (row["case"], row["nodes"], row["pods"], row["kinds"]) == ("c7", 1, 1, {"node-1": 1, "node-2": 0})
