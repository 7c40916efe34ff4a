"""Accepting violations: who may, for how long, and what is told."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from kubeproof.cluster.objects import Source
from kubeproof.errors import SettingsError
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Ignore
from kubeproof.manifests.settings.exemptions import Exemption, read_exemptions
from kubeproof.verify.findings.baseline import baseline_text, read_baseline
from kubeproof.verify.findings.fingerprints import fingerprints
from kubeproof.verify.findings.suppress import suppress
from kubeproof.verify.resize import Size
from kubeproof.verify.scaling.result import SizeVerdict, Sweep
from tests.unit.report.results import PROOF, RESULT, VIOLATION
from tests.unit.verify.inputs import node, scenario, web

TODAY = date(2026, 6, 1)
HERE = Source(".kubeproof.yaml", 2)
EXEMPT = Exemption("S004", "", "", "known", None, HERE)


def statuses(result):
    return [note.status for note in result.suppressions]


def test_an_exempted_violation_is_suppressed_and_keeps_its_counterexample():
    found = suppress(RESULT, exemptions=(EXEMPT,), today=TODAY)

    assert [one.verdict for one in found.results] == ["SUPPRESSED", "HOLDS"]
    assert found.results[0].trace == VIOLATION.trace
    assert (found.results[0].suppression.reason, found.results[0].suppression.source) == ("known", HERE)
    assert (found.verdict, statuses(found)) == ("SUPPRESSED", ["used"])


@pytest.mark.parametrize(("expires", "counts"), [(date(2026, 6, 1), True), (date(2026, 5, 31), False)])
def test_an_exemption_counts_until_its_last_day_and_is_then_told_as_expired(expires, counts):
    found = suppress(RESULT, exemptions=(replace(EXEMPT, expires=expires),), today=TODAY)

    assert found.results[0].verdict == ("SUPPRESSED" if counts else "VIOLATED")
    assert found.verdict == ("SUPPRESSED" if counts else "VIOLATED")
    assert statuses(found) == ["used" if counts else "expired"]


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({"target": "Deployment/shop/web"}, True),
        ({"target": "*/shop/*"}, True),
        ({"target": "Deployment/shop/api"}, False),
        ({"intent": "web fits"}, True),
        ({"intent": "another"}, False),
        ({"id": "L001"}, False),
    ],
)
def test_an_exemption_speaks_of_its_property_target_and_intent(change, counts):
    found = suppress(RESULT, exemptions=(replace(EXEMPT, **change),), today=TODAY)

    assert statuses(found) == ["used" if counts else "unused"]


def test_only_violations_can_be_accepted():
    open_one = replace(RESULT, verdict="UNKNOWN", results=(replace(VIOLATION, verdict="UNKNOWN", trace=None),))
    found = suppress(open_one, exemptions=(EXEMPT,), today=TODAY)

    assert (found.verdict, found.results, statuses(found)) == ("UNKNOWN", open_one.results, ["unused"])


def test_what_stays_open_outweighs_what_is_accepted():
    mixed = replace(RESULT, results=(VIOLATION, replace(PROOF, verdict="UNKNOWN")))

    assert suppress(mixed, exemptions=(EXEMPT,), today=TODAY).verdict == "UNKNOWN"


def test_a_sweep_that_ended_at_an_accepted_violation_proves_nothing_beyond_it():
    sizes = tuple(SizeVerdict(Size((("a", n),), ()), verdict) for n, verdict in enumerate(("VIOLATED", "NOT-TRIED")))
    swept = replace(RESULT, results=(VIOLATION, replace(PROOF, verdict="HOLDS-BOUNDED")), sweep=Sweep(sizes, "2 sizes"))

    found = suppress(swept, exemptions=(EXEMPT,), today=TODAY)

    assert [one.verdict for one in found.results] == ["SUPPRESSED", "UNKNOWN"]
    assert "1 larger sizes were not tried" in found.results[1].detail
    assert found.verdict == "UNKNOWN"
    whole = replace(swept, sweep=Sweep(sizes[:1], "1 size"))
    assert suppress(whole, exemptions=(EXEMPT,), today=TODAY).verdict == "SUPPRESSED"


def test_a_bounded_proof_stays_one_when_nothing_is_accepted():
    bounded = replace(RESULT, verdict="HOLDS-BOUNDED", results=(replace(PROOF, verdict="HOLDS-BOUNDED"),))

    assert suppress(bounded, exemptions=(EXEMPT,), today=TODAY).verdict == "HOLDS-BOUNDED"


# --- annotations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ref", "name", "reason", "status"),
    [
        ("Deployment/shop/web", "S004", "one is enough", "used"),
        ("Deployment/shop/web", "s004", "one is enough", "used"),
        ("Deployment/shop/web", "S004", "", "no reason"),
        ("Deployment/shop/*", "S004", "not a pattern", "unused"),
        ("Deployment/shop/api", "S004", "another workload", "unused"),
        ("Scenario/one-node-down", "S004", "for all", "used"),
        ("Scenario/other", "S004", "another Scenario", "unused"),
        ("Deployment/shop/web", "S999", "no such property", "unused"),
    ],
)
def test_an_annotation_accepts_for_its_object_with_a_reason(ref, name, reason, status):
    found = suppress(RESULT, ignores=(Ignore(ref, name, reason, HERE),), today=TODAY)

    assert statuses(found) == [status]
    assert found.results[0].verdict == ("SUPPRESSED" if status == "used" else "VIOLATED")


def test_annotations_are_read_from_workloads_and_the_scenario():
    annotated = web(1).replace(
        "namespace: shop}", 'namespace: shop,\n  annotations: {ignore.kubeproof.dev/S001: " why not "}}', 1
    )
    text = "---\n".join((node("a"), annotated, scenario("{settles: {}}")))
    (found,) = load_texts([("in.yaml", text)]).ignores

    assert (found.ref, found.id, found.reason) == ("Deployment/shop/web", "S001", "why not")
    assert text.splitlines()[found.source.line - 1].strip().startswith("annotations:")


# --- baselines --------------------------------------------------------------------------------------------------------


def test_a_baseline_accepts_what_it_lists_and_nothing_else(tmp_path: Path):
    path = tmp_path / "known.json"
    path.write_text(baseline_text(RESULT))
    baseline = read_baseline(str(path))
    other = replace(VIOLATION, target="Deployment/shop/api")
    found = suppress(replace(RESULT, results=(VIOLATION, other)), baseline=baseline, today=TODAY)

    assert [one.verdict for one in found.results] == ["SUPPRESSED", "VIOLATED"]
    assert found.results[0].suppression.source == Source(str(path), 2)
    assert found.results[0].suppression.reason == "in the baseline"


def test_a_finding_that_is_gone_is_told_as_unused(tmp_path: Path):
    path = tmp_path / "known.json"
    path.write_text(baseline_text(RESULT))
    found = suppress(replace(RESULT, verdict="HOLDS", results=(PROOF,)), baseline=read_baseline(str(path)), today=TODAY)

    assert (found.verdict, statuses(found)) == ("HOLDS", ["unused"])


def test_findings_of_another_scenario_are_not_told(tmp_path: Path):
    path = tmp_path / "known.json"
    path.write_text(baseline_text(replace(RESULT, scenario="other")))

    assert suppress(RESULT, baseline=read_baseline(str(path)), today=TODAY) == RESULT


def test_writing_a_baseline_again_keeps_reasons_and_drops_what_is_exempt_or_fixed(tmp_path: Path):
    path = tmp_path / "known.json"
    path.write_text(baseline_text(RESULT).replace("in the baseline", "ticket 7"))
    again = suppress(RESULT, baseline=read_baseline(str(path)), today=TODAY)

    assert json.loads(baseline_text(again))["findings"][0]["reason"] == "ticket 7"
    assert json.loads(baseline_text(suppress(RESULT, exemptions=(EXEMPT,), today=TODAY)))["findings"] == []
    assert json.loads(baseline_text(again))["findings"][0]["fingerprint"] == fingerprints(RESULT)[0]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 2, "findings": []}', '{"version": 1, "findings": [1]}', "[" * 100_000, "\xff"]
)
def test_what_is_no_baseline_is_wrong_configuration(tmp_path: Path, text: str):
    path = tmp_path / "known.json"
    path.write_text(text, encoding="latin-1")

    with pytest.raises(SettingsError, match=r"E210 .*known.json: .*--write-baseline"):
        read_baseline(str(path))


def test_a_missing_baseline_is_wrong_configuration(tmp_path: Path):
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        read_baseline(str(tmp_path / "none.json"))


# --- the settings file ------------------------------------------------------------------------------------------------


def read(tmp_path: Path, text: str) -> tuple[Exemption, ...]:
    path = tmp_path / ".kubeproof.yaml"
    path.write_text(text)
    return read_exemptions(str(path))


def test_exemptions_have_a_place_and_know_keys_and_ids(tmp_path: Path):
    text = "exemptions:\n- {id: schedulable, target: Deployment/shop/web, reason: known, expires: 2026-12-31}\n"
    text += "- {id: l002, intent: x, reason: why}\n"
    first, second = read(tmp_path, text)

    assert (first.id, first.expires, first.source.line) == ("S005", date(2026, 12, 31), 2)
    assert (second.id, second.intent, second.expires, second.source.line) == ("L002", "x", None, 3)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{id: S005}", "reason is required"),
        ("{id: S005, reason: ' '}", "reason is required"),
        ("{reason: x}", "id is required"),
        ("{id: S999, reason: x}", "no property"),
        ("{id: S005, reason: x, expires: soon}", "no day"),
        ("{id: S005, reason: x, expires: 2026-02-30}", "no day"),
        ("{id: S005, reason: x, until: 2026-02-03}", "until"),
        ("S005", "Write a mapping"),
    ],
)
def test_an_exemption_that_cannot_be_used_is_wrong_configuration(tmp_path: Path, entry: str, said: str):
    with pytest.raises(SettingsError, match=r"E210 .*\.kubeproof\.yaml:1: ") as problem:
        read(tmp_path, f"exemptions: [{entry}]")
    assert said in str(problem.value)
    assert problem.value.exit_code == 2
