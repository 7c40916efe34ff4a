"""The other functions of the Python API: matrix, fix and simulate, and how names go."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import kubeproof
from kubeproof.api.deprecation import Deprecated
from kubeproof.errors import UsageError

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOP = [path for path in (EXAMPLES / "09-microservices").glob("*.yaml") if path.stem != "scenario"]
SPREAD = EXAMPLES / "01-conflicting-spread"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def graded() -> kubeproof.Verification:
    return kubeproof.matrix(SHOP, faults=["drain", "podCrash"])


@pytest.fixture(scope="module")
def repaired() -> kubeproof.Repairs:
    return kubeproof.fix(SPREAD, proposals=1)


@pytest.fixture(scope="module")
def simulated() -> kubeproof.Simulation:
    return kubeproof.simulate(EXAMPLES / "11-simulated-shop", duration="30s", seed=3)


def test_a_matrix_grades_every_workload_under_every_fault(graded):
    assert graded.matrix is not None
    grades = {(cell.target, cell.faults): cell.grade for cell in graded.matrix.cells}

    assert len(grades) == 22
    assert grades["Deployment/market/mail", ("drain",)] == "dips"
    assert grades["Deployment/market/cart", ("drain",)] == "steady"
    assert graded.holds
    assert "mail" in graded._repr_html_()


def test_a_stricter_grade_makes_dips_violations():
    found = kubeproof.matrix(SHOP, faults=["podCrash"], grade="steady")

    assert (found.holds, found.verdict) == (False, "VIOLATED")


def test_nodes_are_told_as_on_the_command_line(tmp_path):
    (tmp_path / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n"
    )

    found = kubeproof.matrix(tmp_path, faults=["deploy"], nodes="2x1cpu,1Gi")

    assert "2 nodes" in str(found)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: kubeproof.matrix(SPREAD), "has a Scenario"),
        (lambda: kubeproof.matrix(SHOP, faults=["flood"]), "no fault 'flood'"),
        (lambda: kubeproof.fix(SPREAD, deny=["magic"]), "no kind of edit"),
        (lambda: kubeproof.simulate(SPREAD, duration="soon"), "not a duration"),
        (lambda: kubeproof.simulate(SPREAD, duration=0), "not a duration"),
    ],
)
def test_what_cannot_be_done_is_wrong_usage(call, words):
    with pytest.raises(UsageError, match=words):
        call()


def test_fix_gives_a_diff_and_leaves_the_files_alone(repaired):
    assert repaired.is_repaired
    assert "+      - maxSkew: 2" in repaired.diff
    assert "maxSkew: 2" not in (SPREAD / "web.yaml").read_text()
    assert "Proposal" in str(repaired)
    assert "maxSkew: 2" in repaired._repr_html_()


def test_a_simulation_has_series_and_is_shown_as_curves(simulated):
    ready = simulated.series("storefront", "ready")

    assert simulated.duration_s == 30
    assert max(value or 0 for value in ready.values) > 0
    assert str(simulated).startswith("shop-on-a-busy-morning: 1 run of 30s, seed 3")
    assert "<svg" in simulated._repr_html_()


def test_a_room_and_a_function_of_one_name_do_the_same(simulated):
    script = (
        "import sys, kubeproof\nfirst = kubeproof.simulate(sys.argv[1], duration=5)\n"
        "import kubeproof.simulate.options\nassert str(kubeproof.simulate)[:7] == '<module'\n"
        "assert kubeproof.simulate(sys.argv[1], duration=5) == first"
    )

    subprocess.run([sys.executable, "-c", script, str(SPREAD)], check=True)


@pytest.mark.parametrize("shown", ["simulated", "repaired", "graded"])
def test_notebooks_are_given_no_scripts(shown, request):
    from dataclasses import fields, replace

    result = request.getfixturevalue(shown)
    text = next(field.name for field in fields(result) if field.name in ("scenario", "scenario_name"))

    assert HOSTILE not in replace(result, **{text: HOSTILE})._repr_html_()


def test_a_deprecated_name_works_and_tells_what_replaces_it(monkeypatch):
    prove = Deprecated("assert_holds", since="0.2", gone_in="0.4")
    monkeypatch.setattr(kubeproof, "_DEPRECATED", {"prove": prove})

    with pytest.warns(
        DeprecationWarning, match=r"kubeproof\.prove is deprecated since 0\.2 and gone in 0\.4: use"
    ) as told:
        assert kubeproof.prove is kubeproof.assert_holds
    assert told[0].filename == __file__


def test_names_that_are_not_deprecated_warn_nobody():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kubeproof.assert_holds.__name__ == "assert_holds"


def test_deprecations_last_two_minor_releases_and_end():
    def minor(version: str) -> int:
        major, second, *_ = version.split(".")
        return int(major) * 1_000 + int(second)

    promised = kubeproof._DEPRECATED.items()
    assert [name for name, one in promised if minor(one.gone_in) < minor(one.since) + 2] == []
    assert [name for name, one in promised if minor(one.gone_in) <= minor(kubeproof.__version__)] == []


def test_names_for_controllers_of_your_own_are_the_ones_that_are_loaded():
    from kubeproof.controllers import own

    names = [name for name, (home, _) in kubeproof._HOMES.items() if home == own.__name__]
    assert len(names) == 12
    assert all(getattr(kubeproof, name) is getattr(own, name) for name in names)
