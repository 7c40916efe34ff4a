"""Alarms that belong together are one incident, whose level grows with the evidence."""

from __future__ import annotations

import json

import pytest

from kubeproof.errors import EventError, RuleError, UsageError
from kubeproof.monitor.alarms import Alarm, Kind, to_value
from kubeproof.monitor.event import Event
from kubeproof.monitor.incidents import book as book_module
from kubeproof.monitor.incidents.book import IncidentBook, find_causes
from kubeproof.monitor.incidents.incident import gather_incidents
from kubeproof.monitor.incidents.policy import Level, Policy
from kubeproof.monitor.incidents.recorded import find_events, read_alarms
from kubeproof.monitor.intake.stream import StreamMonitor
from kubeproof.monitor.rules.reader import read_rules
from kubeproof.monitor.rules.rules import AtMost, Chain, EqualCounts, FollowedBy, Ltl, Pattern, Rule, RuleSet
from kubeproof.monitor.rules.writer import to_yaml
from kubeproof.report.incidents import incidents_html, incidents_json, incidents_text
from kubeproof.verdicts import Verdict

SECOND = 1_000_000
A, B, C, D = map(Pattern, "abcd")
APART = (Rule("ab", FollowedBy(A, B, SECOND)), Rule("cd", FollowedBy(C, D, SECOND)))


def alarm(about="b", at_s=10, *, kind=Kind.MISSING, rule="ab", **rest):
    return Alarm(
        rule, kind, about, f"{about} is {kind.value}", at_s * SECOND - SECOND, at_s * SECOND, at_s * SECOND, **rest
    )


def levels(alarms, policy=Policy(failure_at=2), rules=APART):
    book = IncidentBook(rules, policy)
    return [(one.incident, one.level) for one in map(book.take, alarms)]


def test_a_second_event_that_is_missing_makes_a_failure():
    found = levels([alarm("b", 10, run="r"), alarm("b", 11, run="r"), alarm("d", 12, run="r", rule="cd")])

    assert found == [(1, Level.WARNING), (1, Level.WARNING), (1, Level.FAILURE)]


def test_several_unexpected_events_are_evidence_but_for_one():
    odd = [alarm(name, kind=Kind.UNEXPECTED, run="r") for name in "xxyz"]

    assert [level for _, level in levels(odd)] == [
        Level.INFORMATION,
        Level.INFORMATION,
        Level.WARNING,
        Level.FAILURE,
    ]


def test_an_unexpected_event_that_is_also_missing_counts_once():
    odd = [alarm(name, kind=Kind.UNEXPECTED, run="r") for name in "bx"]

    assert [level for _, level in levels([alarm("b", run="r"), *odd])] == [Level.WARNING] * 3


def test_a_lone_unexpected_event_is_information():
    assert levels([alarm(kind=Kind.UNEXPECTED), alarm("d", kind=Kind.UNEXPECTED, rule="cd")]) == [
        (1, Level.INFORMATION),
        (2, Level.INFORMATION),
    ]


@pytest.mark.parametrize(
    "telling",
    [{"kind": Kind.FORBIDDEN}, {"kind": Kind.FORMULA}, {"kind": Kind.INTENT}, {"severity": "error"}],
)
def test_what_somebody_wrote_down_is_a_failure_at_once(telling):
    assert levels([alarm(**telling)], Policy(failure_at=5)) == [(1, Level.FAILURE)]


@pytest.mark.parametrize("telling", [{"verdict": Verdict.UNKNOWN}, {"severity": "info"}, {"kind": Kind.OVERFLOW}])
def test_what_is_not_known_or_not_grave_is_no_evidence(telling):
    assert levels([alarm(**telling)], Policy()) == [(1, Level.INFORMATION)]


def test_runs_and_keys_are_incidents_apart():
    alarms = [alarm(run="r"), alarm(run="s"), alarm(key="k"), alarm(run="r"), alarm(key="k")]

    assert [number for number, _ in levels(alarms)] == [1, 2, 3, 1, 3]


def test_without_runs_rules_about_other_events_are_other_incidents():
    tied = (*APART, Rule("bc", FollowedBy(B, C, SECOND)))

    assert [number for number, _ in levels([alarm(), alarm("d", rule="cd")])] == [1, 2]
    assert [number for number, _ in levels([alarm(), alarm("d", rule="cd")], rules=tied)] == [1, 1]


def test_causes_are_what_rules_have_in_common():
    rules = (
        *APART,
        Rule("few", AtMost(D, 1, None)),
        Rule("chain", Chain((Pattern("x"), Pattern("y"), Pattern("z")), (1, 1))),
        Rule("equal", EqualCounts((Pattern("z"), A), None)),
        Rule("formula", Ltl("G p", (("p", "name == a"),))),
    )

    assert find_causes(rules) == {
        "ab": "ab", "cd": "cd", "few": "cd", "chain": "ab", "equal": "ab", "formula": "formula",
    }  # fmt: skip


def test_a_quiet_time_ends_an_incident():
    policy = Policy(failure_at=2, quiet_us=5 * SECOND)

    assert levels([alarm("b", 10, run="r"), alarm("d", 15, run="r"), alarm("b", 21, run="r")], policy) == [
        (1, Level.WARNING),
        (1, Level.FAILURE),
        (2, Level.WARNING),
    ]


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(book_module, "MOST_OPEN", 3)
    book = IncidentBook(APART, Policy(failure_at=2))
    found = [book.take(alarm(run=f"r{number % 5}")).incident for number in range(10)]

    assert found == list(range(1, 11))  # each was forgotten before it came again
    assert len(book.state()[2]) == 3


def test_what_is_over_is_forgotten():
    book = IncidentBook(APART, Policy(quiet_us=SECOND))
    for number in range(100):
        book.take(alarm(at_s=10 + 2 * number, run=f"r{number}"))

    assert len(book.state()[2]) == 1
    assert book.levels[Level.FAILURE] == 100


def test_a_book_goes_on_where_it_was():
    alarms = [alarm("b", 10, run="r"), alarm("d", 12, run="r"), alarm("b", 13, run="s"), alarm("b", 14, key="k")]
    whole = IncidentBook(APART, Policy(failure_at=2))
    expected = [whole.take(one) for one in alarms]
    for cut in range(len(alarms)):
        first, then = IncidentBook(APART, Policy(failure_at=2)), IncidentBook(APART, Policy(failure_at=2))
        found = [first.take(one) for one in alarms[:cut]]
        then.restore(json.loads(json.dumps(first.state())))

        assert found + [then.take(one) for one in alarms[cut:]] == expected
        assert (then.levels, then.state()) == (whole.levels, whole.state())


def test_a_stream_tells_the_incident_of_each_alarm():
    rules = RuleSet(APART, incidents=Policy(failure_at=2))
    monitor = StreamMonitor(rules)
    found = monitor.feed([Event(0, "a", run="r"), Event(0, "c", run="r"), Event(10 * SECOND, "z", run="r")])

    assert [(one.about, one.incident, one.level) for _, one in found] == [
        ("b", 1, Level.WARNING),
        ("d", 1, Level.FAILURE),
    ]
    assert +monitor.incidents == {Level.FAILURE: 1}


def test_rules_say_how_much_evidence_a_failure_takes():
    text = to_yaml(RuleSet(APART, incidents=Policy(3, 90 * SECOND)))

    assert '  incidents: {failureAt: 3, quiet: "1m30s"}\n' in text
    assert read_rules(text.encode(), "rules.yaml").incidents == Policy(3, 90 * SECOND)
    assert "incidents" not in to_yaml(RuleSet(APART))


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [("failureAt: 0", "failureAt is 0"), ("quiet: 5", "quiet has no unit"), ("after: 1m", "after")],
)
def test_a_mistake_about_incidents_has_its_place(wrong, problem):
    head = "apiVersion: kubeproof.dev/v1alpha1\nkind: MonitorRules\nspec:\n"
    with pytest.raises(RuleError, match=f"rules.yaml:4: .*{problem}"):
        read_rules(f"{head}  incidents: {{{wrong}}}\n  rules: []\n".encode(), "rules.yaml")


def test_a_policy_in_python_is_checked():
    with pytest.raises(UsageError, match="evidence and an end"):
        Policy(0)


def alarm_from(about, at_s, start_s, **rest):
    return alarm(about, at_s, **rest)._replace(start_us=start_s * SECOND)


def test_incidents_are_gathered_from_a_file_of_alarms(tmp_path):
    book = IncidentBook(APART, Policy(failure_at=2))
    alarms = [
        alarm("q", 5, key="k", kind=Kind.UNEXPECTED),
        alarm_from("d", 20, 3, run="r", rule="cd"),
        alarm_from("b", 30, 2, run="r"),
    ]
    path = tmp_path / "alarms.ndjson"
    path.write_text("".join(json.dumps(to_value(book.take(one), n)) + "\n" for n, one in enumerate(alarms, 1)))

    odd, failure = gather_incidents(read_alarms(str(path)))

    assert (odd.level, odd.key, len(odd.evidence), odd.culprit) == (Level.INFORMATION, "k", 1, "q")
    assert (failure.level, failure.run, failure.culprit) == (Level.FAILURE, "r", "b")  # due first, noticed last
    assert [one.event for one in failure.evidence] == ["b", "d"]
    assert (failure.started_us, failure.first_us, failure.last_us) == (2 * SECOND, 20 * SECOND, 30 * SECOND)


@pytest.mark.parametrize("line", ["{}", '{"id": "x"}', "[]", '{"id": 1, "rule": 2}', "nonsense"])
def test_what_is_no_alarm_is_refused_with_its_line(tmp_path, line):
    path = tmp_path / "alarms.ndjson"
    path.write_text(f"\n{line}\n")

    with pytest.raises(EventError, match=r"alarms.ndjson:2: "):
        list(read_alarms(str(path)))


def test_events_around_are_those_of_the_same_run():
    (one,) = gather_incidents([(1, alarm_from("b", 20, 10, run="r")._replace(incident=1))])
    events = [Event(second * SECOND, f"e{second}", run=run) for second in range(0, 40, 5) for run in ("r", "s")]

    found = find_events([one], events, 5 * SECOND)

    assert [event.name for event in found[1]] == ["e5", "e10", "e15", "e20", "e25"]
    assert {event.run for event in found[1]} == {"r"}


def test_reports_put_the_gravest_first_and_are_harmless():
    mild, grave = alarm(kind=Kind.UNEXPECTED, run="<b>\x1b"), alarm("</script>", 20, run="s", severity="error")
    book = IncidentBook(APART)
    incidents = gather_incidents(enumerate(map(book.take, (mild, grave)), 1))

    text = incidents_text(incidents)
    assert text.splitlines()[0] == "FAILURE incident 2 of run s: begins with missing </script>"
    assert text.splitlines()[-1] == "incidents: 1 failure, 1 information"
    assert "\x1b" not in text
    assert [one["number"] for one in json.loads(incidents_json(incidents))["incidents"]] == [2, 1]
    page = incidents_html(incidents, {1: [Event(0, "<img src=x>")]})
    assert "<img" not in page
    assert page.count("</script>") == 2
