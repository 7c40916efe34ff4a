"""Rules are read from YAML or Python, written back to the same, and every mistake has its line."""

from __future__ import annotations

import pytest

from kubeproof.errors import RuleError, UsageError
from kubeproof.monitor.rules.reader import load_rules, read_rules
from kubeproof.monitor.rules.rules import (
    AtMost,
    Chain,
    EqualCounts,
    Evidence,
    FollowedBy,
    Heartbeat,
    Ltl,
    Matching,
    Never,
    Pattern,
    Rule,
    RuleSet,
)
from kubeproof.monitor.rules.words import describe_learned, least_share
from kubeproof.monitor.rules.writer import to_yaml

HEAD = "apiVersion: kubeproof.dev/v1alpha1\nkind: MonitorRules\nspec:\n  rules:\n"
A, B, C = Pattern("a"), Pattern("b"), Pattern("c", "target == 'x y'")
ALL = RuleSet(
    (
        Rule("one", FollowedBy(A, B, 12_500_000), "error", (Evidence(3, 5, 1, 2_000, 3_000_000, 90_000_000),)),
        Rule("two", FollowedBy(A, C, 1, Matching.KEY)),
        Rule("three", Chain((A, B, C), (1_000_000, 61_000_000), Matching.ANY), evidence=(Evidence(1, 2),) * 2),
        Rule("four", EqualCounts((A, B), 600_000_000, 1)),
        Rule("yes", AtMost(A, 6, None)),
        Rule("six", AtMost(A, 0, 3_600_000_000, 2)),
        Rule("seven: #", Never(C)),
        Rule("eight", Heartbeat(Pattern("10"), 250_000)),
        Rule("nine", Ltl("G (p -> F q)", (("p", "name == a"), ("q", "name == b and code >= 400")), True)),
    ),
    "all",
)  # fmt: skip


def read(text):
    return read_rules((HEAD + text).encode(), "r.yaml")


def test_rules_survive_writing_and_reading():
    assert read_rules(to_yaml(ALL).encode(), "r.yaml") == ALL


def test_an_empty_set_survives_writing_and_reading():
    assert read_rules(to_yaml(RuleSet(())).encode(), "r.yaml") == RuleSet(())


def test_rules_are_said_in_words():
    assert [line for rule in ALL.rules for line in describe_learned(rule)] == [
        "one: every a is followed by b within 12.5s, the i-th by the i-th",
        "  5 times in 3 runs, so in at least 36.8% of them (95 %); delay "
        "shortest 0.000 s, median 0.002 s, 99 % 3.000 s, longest 90.000 s",
        "two: every a is followed by c where target == 'x y' within 1us, by one with the same key",
        "three: every a is followed by b within 1s, then c where target == 'x y' within 1m1s, by any later one",
        "  b: 2 times in 1 runs, so in at least 5.0% of them (95 %)",
        "  c: 2 times in 1 runs, so in at least 5.0% of them (95 %)",
        "four: a and b occur equally often in any 10m, up to 1",
        "yes: a occurs at most 6 times in a run",
        "six: a occurs at most 0 times in any 1h; up to 2 more are tolerated",
        "seven: #: c where target == 'x y' never occurs",
        "eight: 10 comes again within 250ms",
        "nine: G (p -> F q), for each key",
    ]


def test_the_short_forms_mean_the_same():
    assert read(
        "  - followedBy: {first: a, then: b, within: 2s}\n  - chain: {events: [a, b, c], within: 2s}\n"
    ).rules == (
        Rule("followedBy-1", FollowedBy(A, B, 2_000_000)),
        Rule("chain-2", Chain((A, B, Pattern("c")), (2_000_000, 2_000_000))),
    )


def test_pairs_are_those_of_chains_too():
    assert [(pair.first.name, pair.then.name) for pair in ALL.pairs] == [("a", "b"), ("a", "c"), ("a", "b"), ("b", "c")]


def test_a_quoted_predicate_needs_no_where():
    body = read("""  - ltl: {formula: 'G !"name == a"'}\n""").rules[0].body

    assert body == Ltl('G !"name == a"', (("name == a", "name == a"),))


def test_rules_come_from_python_too(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("from kubeproof.monitor.rules.rules import *\nmine = RuleSet((Rule('r', Never(Pattern('x'))),))\n")

    assert load_rules(f"{file}:mine").rules == (Rule("r", Never(Pattern("x"))),)
    with pytest.raises(UsageError, match="has no RuleSet 'other'"):
        load_rules(f"{file}:other")


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("  - name: x\n", 5, "0 rules in one"),
        ("  - never: {event: a}\n    heartbeat: {event: a, every: 1s}\n", 5, "2 rules in one"),
        ("  - followdBy: {first: a}\n", 5, "unknown field spec.rules.0..followdBy. Did you mean followedBy"),
        ("  - followedBy:\n      first: a\n      then: b\n      within: 30\n", 8, "within has no unit"),
        ("  - followedBy: {first: a, then: b, within: soon}\n", 5, "within is 'soon'"),
        ("  - followedBy: {first: a, then: a, within: 1s}\n", 5, "is the same event as first"),
        ("  - followedBy: {first: a, then: b, within: 1s, match: id}\n", 5, "match is 'id'"),
        ("  - followedBy: {then: b, within: 1s}\n", 5, "first is required"),
        ("  - followedBy: {first: 3, then: b, within: 1s}\n", 5, "first is no event"),
        ("  - chain: {events: [a], within: 1s}\n", 5, "has 1 events"),
        ("  - chain: {events: [a, b, c], within: [1s]}\n", 5, "has 1 durations for 2 links"),
        ("  - chain: {events: [a, a], within: 1s}\n", 5, "repeats a"),
        ("  - atMost: {event: a}\n", 5, "count is required"),
        ("  - atMost: {event: a, count: -1}\n", 5, "count is -1"),
        (
            "  - never:\n      event:\n        name: a\n        where: 'code >'\n",
            8,
            "column 7: lacks a number at its end",
        ),
        ("  - ltl: {formula: 'G (p'}\n", 5, "column 5: lacks"),
        ("  - ltl: {formula: 'G p'}\n", 5, "column 2: lacks a comparison"),
        ("  - ltl: {formula: 'G p', where: {p: name == a, q: name == b}}\n", 5, "names 'q'"),
        ("  - name: x\n    never: {event: a}\n  - name: x\n    never: {event: b}\n", 7, "'x' is taken"),
        ("  - never: {event: a}\n    severity: loud\n", 6, "severity is 'loud'"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, line, problem):
    with pytest.raises(RuleError, match=problem) as caught:
        read(text)

    assert (caught.value.line, caught.value.code, caught.value.exit_code) == (line, "E209", 2)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "not a mapping"),
        ("a: 1\n---\nb: 2\n", "2 documents, not one"),
        ("apiVersion: v1\nkind: MonitorRules\n", "apiVersion is not one of rules"),
        ("apiVersion: kubeproof.dev/v1alpha1\nkind: Scenario\n", "kind is not that of rules"),
    ],
)
def test_other_files_are_refused(text, problem):
    with pytest.raises(RuleError, match=problem):
        read_rules(text.encode(), "r.yaml")


def test_a_directory_is_no_file_of_rules(tmp_path):
    with pytest.raises(RuleError, match="is a directory"):
        load_rules(str(tmp_path))


def test_two_rules_of_one_name_are_refused_from_python():
    with pytest.raises(UsageError, match="two rules are called 'r'"):
        RuleSet((Rule("r", Never(A)), Rule("r", Never(B))))


def test_a_chain_without_links_is_refused_from_python():
    with pytest.raises(UsageError, match="a chain needs two events or more"):
        Chain((A,), ())


def test_few_runs_tell_little():
    assert [round(least_share(runs), 3) for runs in (0, 1, 2, 59, 529)] == [0.0, 0.05, 0.224, 0.95, 0.994]
