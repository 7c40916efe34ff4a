"""The checks are declared completely, and the way their findings go."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from kubeproof.verify.checks import catalogue, run
from kubeproof.verify.checks.catalogue import TOPICS, check_id, check_named, checks, checks_of
from kubeproof.verify.checks.declaration import SEVERITIES, Check
from kubeproof.verify.checks.run import run_checks
from kubeproof.verify.checks.scene import Scene
from kubeproof.verify.findings.suppress import suppress
from tests.unit.report.results import RESULT
from tests.unit.verify.checks.inputs import budget, deployment, loaded

PACKAGE = Path(catalogue.__file__).parent
NO_TOPICS = {"__init__"}


def test_every_module_of_the_package_is_a_topic():
    assert {topic.module for topic in TOPICS} == {path.stem for path in (PACKAGE / "topics").glob("*.py")} - NO_TOPICS


def test_ids_are_permanent_unique_and_without_a_gap():
    ids = [check.id for check in checks()]
    own, of_reading = [i for i in ids if i.startswith("K")], [i for i in ids if i.startswith("R")]

    assert own == [f"K{number:03}" for number in range(1, len(own) + 1)]
    assert of_reading == [f"R{number:03}" for number in range(1, len(of_reading) + 1)]
    assert len({check.key for check in checks()}) == len(own) + len(of_reading) == len(ids)


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.id)
def test_every_check_is_declared_completely(check: Check):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", check.key)
    assert check.severity in SEVERITIES
    assert check.title
    assert check.explanation.endswith(".")
    assert check.remedy
    assert not check.remedy.endswith(".")
    assert not check.title.endswith(".")


def test_a_check_is_found_by_id_and_key_in_any_case():
    assert check_named("k019") is check_named("Budget-Blocks") is checks()[18]
    assert check_id("budget-blocks") == "K019"
    assert check_id("S001") is None


def test_the_rules_that_concern_an_input_are_run_and_no_others():
    plain = loaded(deployment())

    assert [topic.module for topic in TOPICS if topic.concerns(plain)] == ["fields", "placement", "workloads"]
    assert run_checks(plain) == ()


def test_findings_come_worst_first_then_in_the_order_of_the_input():
    read = loaded(
        deployment(replicas="1", spec="strateggy: {}"), budget("minAvailable: 1"), budget("maxUnavailable: 0", name="b")
    )

    assert [(one.id, one.source.line) for one in run_checks(read)] == [
        ("K001", 7),
        ("K019", 18),
        ("K020", 18),
        ("K019", 23),
    ]


def test_a_fault_of_ours_in_one_check_is_told_and_hides_no_other(monkeypatch):
    read = loaded(deployment(replicas="1"), budget("minAvailable: 1"))

    def broken(_: Scene):
        raise KeyError("no wind")
        yield

    known = checks_of(TOPICS[5])
    monkeypatch.setattr(
        run, "checks_of", lambda topic: (replace(known[1], find=broken), known[0]) if topic.module == "budgets" else ()
    )

    first, second = run_checks(read)
    assert (first.id, first.severity) == ("K019", "warning")
    assert (second.id, second.severity) == ("K020", "info")
    assert second.message.startswith("not checked: an internal error, KeyError: 'no wind'")


def test_an_annotation_of_the_object_accepts_a_finding_with_its_reason():
    annotated = budget("minAvailable: 1").replace(
        "name: web, namespace: shop",
        "name: web, namespace: shop, annotations: {ignore.kubeproof.dev/K019: one is enough}",
    )
    read = loaded(deployment(replicas="1"), annotated)
    result = replace(RESULT, checks=run_checks(read))

    (found,) = suppress(result, ignores=read.ignores, today=date(2026, 1, 1)).checks
    assert found.suppression is not None
    assert (found.suppression.kind, found.suppression.reason) == ("annotation", "one is enough")
    assert found.severity == "warning"
