"""Repairs are the cheapest sets of edits that are proved; known runs refute only what a search refutes, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kubeproof.cases.library import load_case
from kubeproof.errors import KubeproofError, UsageError
from kubeproof.manifests.load import load, load_texts
from kubeproof.stop import Stop
from kubeproof.verdicts import Verdict
from kubeproof.verify.fix.choice import KINDS, Limits, check_kinds, list_edits
from kubeproof.verify.fix.edits import are_apart
from kubeproof.verify.fix.inputs import change, open_input
from kubeproof.verify.fix.judging import GUARD, Effort, ScenarioJudge, guards_of
from kubeproof.verify.fix.outcomes import Level, Outcome, find_worse
from kubeproof.verify.fix.run import FixOptions, find_repairs
from kubeproof.verify.fix.search import Counts, Search
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from tests.unit.verify.inputs import loaded, node, scenario, web

SPREAD = """topologySpreadConstraints:
      - {topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: DoNotSchedule,
         labelSelector: {matchLabels: {app: web}}}"""
BUDGET = """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""
DRAINED = (
    node("a"),
    node("b"),
    web(2),
    BUDGET,
    scenario("{drainCompletes: {}}", events="{drain: {uncordon: true}}", start="deployed"),
)


def written(folder: Path, *parts: str) -> str:
    path = folder / "in.yaml"
    path.write_text("---\n".join(parts), encoding="utf-8")
    return str(path)


def titles(path: str, **options: object) -> list[list[str]]:
    found = find_repairs(load(path), FixOptions(**options))  # type: ignore[arg-type]
    return [[edit.title for edit in one.edits] for one in found.proposals]


def test_a_budget_that_never_allows_an_eviction_is_lowered_by_one(tmp_path):
    first, *_ = titles(written(tmp_path, *DRAINED))

    assert first == ["PodDisruptionBudget/shop/web: minAvailable 1"]


def test_the_change_is_proved_for_the_file_as_it_would_be(tmp_path):
    path = written(tmp_path, *DRAINED)
    (best, *_) = find_repairs(load(path)).proposals

    (changed,) = best.files
    assert changed.after == changed.before.replace("minAvailable: 2", "minAvailable: 1")
    Path(path).write_text(changed.after, encoding="utf-8")
    assert verify(load(path)).verdict == Verdict.HOLDS


def test_kinds_that_are_denied_and_objects_that_nobody_is_to_touch_stay(tmp_path):
    protected = BUDGET.replace("name: web,", 'name: web, annotations: {kubeproof.dev/do-not-touch: "ours"},', 1)
    path = written(tmp_path, *DRAINED[:3], protected, DRAINED[4])

    assert titles(path, limits=Limits(allowed=("budget",))) == []
    assert titles(path, wanted=1) == [["Deployment/shop/web: spec.replicas 2 -> 3"]]
    assert titles(written(tmp_path, *DRAINED), wanted=1, limits=Limits(denied=("budget",))) == [
        ["Deployment/shop/web: spec.replicas 2 -> 3"]
    ]


def test_fewer_pods_are_the_last_resort(tmp_path):
    path = written(tmp_path, node("a", cpu="2"), web(3), scenario("{schedulable: {target: Deployment/shop/web}}"))

    assert titles(path, wanted=1, limits=Limits(denied=("fewerRequests",))) == [
        ["Deployment/shop/web: spec.replicas 3 -> 2"]
    ]
    assert titles(path, wanted=1) == [["Deployment/shop/web: cpu requests x 2/3"]]


def test_what_nobody_asks_for_is_not_spoilt_either(tmp_path):
    """A soft spread would let the scheduler put both pods on one node, where they fit; nothing else changes."""
    path = written(tmp_path, node("a"), node("b"), web(2), scenario("{settles: {}}"))
    loaded = load(path)

    assert [guard.target for guard in guards_of(loaded)] == ["Deployment/shop/web"]
    assert find_repairs(loaded).violated == ()


def test_edits_for_two_violations_are_found_together(tmp_path):
    strict = BUDGET.replace("web", "api")
    path = written(
        tmp_path, node("a", taints="{key: gpu, effect: NoSchedule}"), node("b"), web(2, more=SPREAD),
        web(1, name="api", cpu="100m"), strict.replace("minAvailable: 2", "minAvailable: 1"),
        scenario(
            "{schedulable: {target: Deployment/shop/web}}", "{drainCompletes: {}}",
            events="{drain: {uncordon: true, max: 1, after: stable}}",
        ),
    )  # fmt: skip
    found = find_repairs(load(path), FixOptions(wanted=1, limits=Limits(allowed=("toleration", "budget"))))

    assert [one.key for one in found.violated] == ["schedulable", "drainCompletes"]
    assert [one.unrepaired for one in (found,)] == [()]
    assert sorted(edit.kind for edit in found.proposals[0].edits) == ["budget", "toleration"]


def test_without_a_scenario_workloads_that_get_stuck_are_mended(tmp_path):
    path = written(tmp_path, node("a"), node("b"), web(2), BUDGET)
    found = find_repairs(load(path), FixOptions(faults=("drain",)))

    assert [(one.target, one.faults) for one in found.violated] == [("Deployment/shop/web", ("drain",))]
    assert found.unrepaired == ()
    assert found.proposals[0].repairs == ("Deployment/shop/web (drain)",)


def test_workloads_that_get_stuck_by_budgets_of_their_own_are_mended_by_one_change_of_both(tmp_path):
    percent = BUDGET.replace("minAvailable: 2", "minAvailable: 80%")
    others = (web(1, name="api"), percent.replace("web", "api"))
    path = written(tmp_path, node("a"), node("b"), web(1), percent, *others)
    found = find_repairs(load(path), FixOptions(faults=("drain",), max_candidates=40))

    assert len(found.violated) == 2
    assert [sorted(edit.title for edit in one.edits) for one in found.proposals] == [
        ["PodDisruptionBudget/shop/api: maxUnavailable 1", "PodDisruptionBudget/shop/web: maxUnavailable 1"]
    ]


def test_what_cannot_be_mended_is_told_with_what_was_tried(tmp_path):
    path = written(tmp_path, node("a", cpu="1"), web(2), scenario("{schedulable: {target: Deployment/shop/web}}"))
    found = find_repairs(load(path), FixOptions(limits=Limits(allowed=("replicas",))))

    assert found.proposals == ()
    (tried,) = found.tried
    assert (tried.kind, tried.count, tried.last) == ("replicas", 4, "Deployment/shop/web: spec.replicas 2 -> 6")
    assert "is violated" in tried.why


@pytest.mark.parametrize("case", ["c3", "c13"])
def test_what_a_known_run_refutes_a_search_refutes_too(case):
    loaded = load(load_case(case))
    given = open_input(loaded)
    judge = ScenarioJudge(VerifyOptions(), (), Stop())
    runs = [one for one in verify(given.loaded).results if one.trace is not None]
    refuted = 0
    for edit in list_edits(given.objects, Limits())[::3]:
        try:
            changed = load_texts(change(given, (edit,)).texts)
        except KubeproofError:
            continue
        for one in runs:
            if judge.still_breaks(changed, one):
                refuted += 1
                after = {result.intent: result.verdict for result in verify(changed).results}
                assert after[one.intent] == Verdict.VIOLATED, edit.title
    assert refuted


@pytest.mark.parametrize("case", ["c5", "c8", "c10", "c12", "c14", "c15"])
def test_every_edit_of_the_catalogue_writes_what_it_says_or_is_refused(case):
    given = open_input(load(load_case(case)))
    edits = list_edits(given.objects, Limits())

    assert {edit.kind for edit in edits} <= set(KINDS)
    for edit in edits:
        rewritten = change(given, (edit,))
        assert rewritten.refused == (), edit.title
        assert rewritten.texts != given.texts, edit.title


def test_two_edits_of_one_field_are_never_made_together(tmp_path):
    edits = list_edits(open_input(load(written(tmp_path, *DRAINED))).objects, Limits())
    budgets = [edit for edit in edits if edit.kind == "budget"]

    assert not are_apart(budgets[:2])
    assert are_apart((budgets[0], next(edit for edit in edits if edit.kind == "replicas")))


def test_a_change_is_no_repair_if_anything_is_worse_than_before():
    (result,) = verify(load_texts((("a.yaml", "---\n".join((node("a"), web(1), scenario("{settles: {}}")))),))).results
    good, weak, bad = (Outcome(level, result, "") for level in (Level.GOOD, Level.WEAK, Level.BAD))
    before = {("goal",): bad, ("held",): good, ("vacuous",): weak}

    assert find_worse(before, {("goal",): good, ("held",): good, ("vacuous",): weak}, [("goal",)], Level.GOOD) == []
    assert find_worse(before, {("goal",): weak, ("held",): weak, ("vacuous",): good}, [("goal",)], Level.GOOD) == [
        ("goal",),
        ("held",),
    ]
    assert find_worse(before, {("goal",): good, ("vacuous",): weak, ("new",): bad}, [("goal",)], Level.GOOD) == [
        ("held",),
        ("new",),
    ]


def test_a_kind_of_edits_that_there_is_not_is_wrong_usage():
    with pytest.raises(UsageError, match="'magic' is no kind of edit"):
        check_kinds(("budget", "magic"))


def test_repairs_must_not_keep_rollouts_and_drains_from_ending():
    events = "{rollout: {target: Deployment/shop/web}}, {drain: {}}"
    given = loaded(node("a"), web(1), web(1, name="db"), scenario("{settles: {}}", events=events))
    asked = loaded(node("a"), web(1), scenario("{rolloutCompletes: {}}, {drainCompletes: {}}", events=events))

    assert [one.name.removeprefix(GUARD) for one in guards_of(given)] == [
        "all pods of Deployment/shop/web are ready in the end",
        "all pods of Deployment/shop/db are ready in the end",
        "drains end",
        "rollouts of Deployment/shop/web end",
    ]
    assert {one.key for one in guards_of(asked)} == {"minReady"}


def test_what_is_open_of_guards_is_not_asked_of_candidates():
    given = loaded(node("a"), web(1), scenario("{settles: {}}"))
    guards = guards_of(given)
    outcomes = ScenarioJudge(VerifyOptions(), guards, Stop()).ask_all(given, Effort(max_states=3, timeout_s=60.0))

    assert [key[0].startswith(GUARD) for key in outcomes] == [False]


def test_what_was_open_and_is_violated_by_a_run_of_before_does_not_refuse_a_repair():
    full = "{schedulable: {target: Deployment/shop/db}}"
    given = open_input(loaded(node("a", cpu="1"), web(2, cpu="600m"), web(1, name="db", cpu="2"), scenario(full)))
    judge = ScenarioJudge(VerifyOptions(), (), Stop())
    (key,), (found,) = zip(*judge.ask_all(given.loaded, Effort(1_000, 60.0)).items(), strict=True)
    search = Search(given, judge, {key: replace(found, level=Level.OPEN)}, (), (), (), 0.0, Stop(), Counts())

    assert search._was_so(key, {key: found})
    assert not search._was_so(key, {key: replace(found, level=Level.OPEN)})
