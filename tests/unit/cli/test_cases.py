import json

import pytest

from kubeproof.cases.library import list_cases, text_of
from kubeproof.cases.run import CaseRun
from kubeproof.cli.main import main


@pytest.fixture
def ran(monkeypatch):
    """What was run; every case comes out as expected unless it is c3."""
    asked = []

    def run_case(chosen, options, *, keep_result=False, stop=None):
        case, variant = chosen
        asked.append((case.name, variant.name, options.timeout_s))
        verdict, problem = ("ERROR", "no wind") if case.name == "c3" else (variant.expected, "")
        return CaseRun(case.name, variant.name, variant.expected, verdict, 3, 6, 1234, 5678, 0.25, problem)

    def run_cases(chosen, options, *, workers, stop=None):
        return [run_case(one, options) for one in chosen]

    monkeypatch.setattr("kubeproof.cases.run.run_case", run_case)
    monkeypatch.setattr("kubeproof.cases.run.run_cases", run_cases)
    return asked


def test_cases_are_listed_with_all_that_the_library_knows(capsys):
    assert main(["cases", "list"]) == 0

    text = capsys.readouterr().out
    assert text.splitlines()[:6] == [
        "c1  Booting pods drive the autoscaler to its maximum",
        "    source       Kivi (USENIX ATC'24), case C1",
        "    controllers  HorizontalPodAutoscaler, Deployment, ReplicaSet, scheduler",
        "    property     Without any change of load the autoscaler does not go to its maximum.",
        "    scale        3 nodes, 6 pods",
        "    violating: VIOLATED. Pods count from their first second; no stabilization on the way up.",
    ]


def test_cases_are_listed_as_json(capsys):
    assert main(["cases", "list", "-o", "json"]) == 0

    cases = json.loads(capsys.readouterr().out)["cases"]
    assert [case["name"] for case in cases] == [case.name for case in list_cases()]
    assert cases[6]["variants"][1] == {"name": "safe", "expected": "HOLDS", "about": "The named node has no taint."}


@pytest.mark.parametrize(
    ("arguments", "variant"),
    [([], "violating"), (["--safe"], "safe"), (["--variant", "safe-readiness"], "safe-readiness")],
)
def test_show_prints_the_manifests_and_nothing_else(capsys, arguments, variant):
    assert main(["cases", "show", "c1", *arguments]) == 0

    assert capsys.readouterr() == (text_of("c1", variant), "")


def test_all_runs_the_main_variants_of_every_case(ran, capsys):
    assert main(["cases", "run", "--all", "--timeout", "9"]) == 1

    assert len(ran) == 2 * len(list_cases())
    assert ran[:2] == [("c1", "violating", 9.0), ("c1", "safe", 9.0)]
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "c3 violating: no wind",
        "c3 safe: no wind",
        f"{len(ran) - 2} of {len(ran)} as expected",
    ]


def test_extra_adds_the_further_variants(ran):
    main(["cases", "run", "--all", "--extra"])

    assert len(ran) == sum(len(case.variants) for case in list_cases())


def test_the_table_marks_what_is_not_as_expected(ran, capsys):
    assert main(["cases", "run", "c2", "c3", "--safe"]) == 1

    assert capsys.readouterr().out.splitlines()[:3] == [
        "case  variant  expected  verdict    nodes  pods  states  time",
        "c2    safe     HOLDS     HOLDS      3      6     1,234   0.25 s",
        "c3    safe     HOLDS     ERROR (!)  3      6     1,234   0.25 s",
    ]


def test_all_as_expected_is_exit_0_and_the_same_in_json(ran, capsys):
    assert main(["cases", "run", "c8", "-o", "json"]) == 0

    assert json.loads(capsys.readouterr().out) == {
        "version": 1,
        "as_expected": True,
        "runs": [
            {
                "case": "c8",
                "variant": "violating",
                "expected": "VIOLATED",
                "verdict": "VIOLATED",
                "as_expected": True,
                "scale": {"nodes": 3, "pods": 6},
                "states": 1234,
                "transitions": 5678,
                "elapsed_s": 0.25,
                "problem": "",
            }
        ],
    }


def test_a_single_case_is_shown_with_its_story_and_its_counterexample(capsys):
    assert main(["cases", "run", "c7", "--color", "never"]) == 0

    text = capsys.readouterr().out
    assert text.startswith("C7 Pods pinned to a node whose taint evicts them\n")
    assert "VIOLATED L003 noOscillation (no-create-and-evict-loop) Deployment/shop/web" in text
    assert text.endswith("1 of 1 as expected\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["run"], "name cases, or use --all"),
        (["run", "c1", "--all"], "name cases, or use --all"),
        (["run", "c1", "--safe", "--variant", "safe"], "exclude each other"),
        (["run", "c99"], "there is no case 'c99'"),
        (["show", "c1", "--variant", "best"], "has no variant 'best'"),
    ],
)
def test_wrong_usage_is_exit_2(capsys, arguments, problem):
    assert main(["cases", *arguments]) == 2

    assert problem in capsys.readouterr().err
