"""Rules are judged on runs whose outcome is known, and the figures are what they say."""

from __future__ import annotations

import pytest

from kubeproof.errors import EventError, NothingToCheckError, UsageError
from kubeproof.monitor.event import Event
from kubeproof.monitor.incidents.policy import Level, Policy
from kubeproof.monitor.mining.evaluate import cross_validate, evaluate, judge, learn_policy, score
from kubeproof.monitor.mining.runs import RunInfo, event_files, label_events, read_index
from kubeproof.monitor.rules.rules import FollowedBy, Pattern, Rule, RuleSet

SECOND = 1_000_000
RULES = RuleSet((Rule("r", FollowedBy(Pattern("a"), Pattern("b"), 10 * SECOND)),))
GOOD = [Event(0, "a"), Event(5 * SECOND, "b"), Event(60 * SECOND, "z")]
BAD = [Event(0, "a"), Event(60 * SECOND, "z")]


def info(name, *, failed=False, injected=True, silent=False, symptom=None, active=None, end=None):
    moments = [None if moment is None else moment * SECOND for moment in (symptom, active, end)]
    return RunInfo(name, name, failed, injected, silent, *moments)


def test_the_figures_count_what_they_say():
    infos = [
        info("found", failed=True, symptom=30),
        info("silent", failed=True, silent=True, symptom=5),
        info("missed", failed=True),
        info("harmless"),
        info("quiet"),
        info("clean", injected=False),
        info("noisy", injected=False),
        info("damaged", failed=True, injected=False),
        info("without events"),
    ]
    bad = {"found", "silent", "harmless", "noisy", "damaged"}
    runs = {one.name: BAD if one.name in bad else GOOD for one in infos[:-1]}

    scores = evaluate(RULES, infos, runs)

    assert (scores.true_alarms, scores.missed, scores.false_alarms, scores.quiet) == (2, 1, 1, 1)
    assert (scores.recall, scores.precision, scores.f1, scores.accuracy) == (2 / 3, 2 / 3, 2 / 3, 3 / 5)
    assert (scores.silent_found, scores.silent) == (1, 1)
    assert (scores.clean_alarmed, scores.clean, scores.damaged_found, scores.damaged) == (1, 2, 1, 1)
    assert (scores.early, scores.leads_us, scores.median_lead_us) == (1, (20 * SECOND,), 20 * SECOND)


def test_the_clock_goes_on_after_the_last_event():
    only = [Event(0, "a")]

    assert judge(RULES, info("r", end=30), only).warned_us == 10 * SECOND
    assert judge(RULES, info("r", end=5), only).warned_us is None  # known at the end only
    assert judge(RULES, info("r", end=5), only).level is Level.FAILURE


def test_an_alarm_before_the_fault_was_active_is_not_early():
    result = judge(RULES, info("r", failed=True, active=20, symptom=30, end=60), BAD)

    assert (result.warned_us, result.failed_us, result.is_premature, result.level) == (None, None, True, Level.FAILURE)
    assert score([result], 1).premature == 1


def test_runs_need_not_be_in_order():
    assert judge(RULES, info("r"), list(reversed(GOOD))).level is None


def test_folds_learn_only_from_clean_runs_of_the_others():
    infos = [info(f"c{number}", injected=False) for number in range(10)] + [info("f", failed=True, symptom=30, end=90)]
    runs = {one.name: [event._replace(run=one.name) for event in (BAD if one.name == "f" else GOOD)] for one in infos}

    scores = cross_validate(infos, runs, 5)

    assert (scores.recall, scores.clean_alarmed, scores.clean) == (1.0, 0, 10)


def test_too_few_runs_cannot_be_folded():
    with pytest.raises(UsageError, match="2 groups of runs cannot make 5 folds"):
        cross_validate([info("a"), info("b")], {}, 5)


def test_without_runs_there_is_nothing_to_evaluate():
    with pytest.raises(NothingToCheckError, match="no run to evaluate"):
        evaluate(RULES, [], {})


def test_scores_without_cases_are_zero():
    scores = evaluate(RULES, [info("c", injected=False)], {"c": GOOD})

    assert (scores.recall, scores.precision, scores.f1, scores.accuracy, scores.median_lead_us) == (0, 0, 0, 0, 0)


def test_the_index_tells_how_runs_ended(tmp_path):
    (tmp_path / "runs.csv").write_text(
        "run,subsystem,test,label,fault_type,api_error,first_symptom_s,first_activation_s,workload_end_s\n"
        "x-f,nova,Test_1,FAILURE,DELAY,,12.5,3,90\n"
        "x-n,nova,Test_1,NO_FAILURE,,,,,\n"
    )

    assert read_index(str(tmp_path)) == {
        "x-f": RunInfo("x-f", "nova/Test_1", True, True, True, 12_500_000, 3_000_000, 90_000_000),
        "x-n": RunInfo("x-n", "nova/Test_1", False, False, False, None, None, None),
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("run,label\n,FAILURE\n", "not a run"),
        ("run,label\nx,BAD\n", "not a run"),
        ("run,first_symptom_s\nx,soon\n", "not a time"),
        ('run,label\n"x', "not valid CSV"),
    ],
)
def test_a_mistake_in_the_index_has_its_line(tmp_path, text, problem):
    (tmp_path / "runs.csv").write_text(text)

    with pytest.raises(EventError, match=f"runs.csv:2: {problem}"):
        read_index(str(tmp_path))


def test_a_directory_without_index_has_unlabelled_runs(tmp_path):
    (tmp_path / "one.jsonl").write_text('{"time": 1, "name": "a"}\n')
    (tmp_path / "two.csv").write_text("time,name,run\n2,b,own\n")
    (tmp_path / "note.txt").write_text("not read")

    assert read_index(str(tmp_path)) == {}
    assert [(event.run, event.name) for event in label_events([str(tmp_path)])] == [("one", "a"), ("own", "b")]


def test_a_directory_without_events_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="no file of events"):
        event_files([str(tmp_path)])


PAIRS = RuleSet(
    tuple(
        Rule(f"{first}{then}", FollowedBy(Pattern(first), Pattern(then), SECOND)) for first, then in ("ab", "cd", "ef")
    )
)


def lacking(names):
    """A run in which these answers do not come."""
    events = [Event(0, name) for name in "ace"] + [Event(1000, name) for name in "bdf" if name not in names]
    return [*events, Event(60 * SECOND, "z")]


def test_a_run_with_a_warning_alone_is_not_alarmed():
    strict = RuleSet(PAIRS.rules, incidents=Policy(failure_at=2))

    scores = evaluate(
        strict,
        [info("one", failed=True), info("two", failed=True, symptom=30)],
        {"one": lacking("b"), "two": lacking("bd")},
    )

    assert (scores.true_alarms, scores.missed, scores.early, scores.early_failures, scores.failure_at) == (
        1,
        1,
        1,
        1,
        (2,),
    )


@pytest.mark.parametrize(
    ("failing", "harmless", "needed"), [("bd", "b", 2), ("bdf", "bd", 3), ("b", "", 1), ("bdf", "", 1)]
)
def test_the_least_evidence_that_tells_failures_apart_is_learnt(failing, harmless, needed):
    infos = [info(f"f{number}", failed=True) for number in range(20)] + [info(f"h{number}") for number in range(20)]
    runs = {one.name: lacking(failing if one.is_failure else harmless) for one in infos}

    learned = learn_policy(PAIRS, infos, runs)

    assert (learned.policy.failure_at, learned.runs, learned.f1) == (needed, 40, 1.0)


def test_without_harmless_faults_every_alarm_counts():
    assert learn_policy(PAIRS, [info("f", failed=True)], {"f": lacking("b")}).policy == Policy()
