"""Rules are exported as statements of Esper's language, those that it cannot say as comments."""

from __future__ import annotations

from kubeproof.monitor.rules.epl import to_epl
from kubeproof.monitor.rules.rules import (
    AtMost,
    Chain,
    EqualCounts,
    FollowedBy,
    Heartbeat,
    Ltl,
    Matching,
    Never,
    Pattern,
    Rule,
    RuleSet,
)

A, B, C = Pattern("a"), Pattern("b"), Pattern("it's")


def test_every_kind_of_rule_has_its_statement():
    rules = RuleSet(
        (
            Rule("any", FollowedBy(A, B, 12_500_000, Matching.ANY)),
            Rule("count", FollowedBy(A, C, 1_000_000)),
            Rule("chain", Chain((A, B, C), (1_000_000, 2_000_000), Matching.KEY)),
            Rule("window", AtMost(A, 3, 60_000_000)),
            Rule("run", AtMost(A, 3, None, 1)),
            Rule("equal", EqualCounts((A, B), 600_000_000, 1)),
            Rule("whole", EqualCounts((A, B), None)),
            Rule("never", Never(A)),
            Rule("beat", Heartbeat(A, 500_000)),
            Rule("formula\n", Ltl("G p", (("p", "name == a"),))),
            Rule("where", Never(Pattern("a", "code > 3"))),
        )
    )
    one = "sum(case when name='a' then 1 else 0 end)"
    other = "sum(case when name='b' then 1 else 0 end)"

    assert to_epl(rules).splitlines()[2:] == [
        "@Name('any') select * from pattern [every a=Event(name='a') -> "
        "(timer:interval(12.5 sec) and not Event(name='b'))];",
        "@Name('count') select * from pattern [every a=Event(name='a') -> "
        "(timer:interval(1 sec) and not Event(name='it\\'s', number=a.number))];",
        "@Name('chain (1)') select * from pattern [every a=Event(name='a') -> "
        "(timer:interval(1 sec) and not Event(name='b', key=a.key))];",
        "@Name('chain (2)') select * from pattern [every a=Event(name='b') -> "
        "(timer:interval(2 sec) and not Event(name='it\\'s', key=a.key))];",
        "@Name('window') select count(*) from Event(name='a')#time(60 sec) having count(*) > 3;",
        "@Name('run') select count(*) from Event(name='a')#keepall having count(*) > 4;",
        f"@Name('equal') select count(*) from Event(name in ('a', 'b'))#time_batch(600 sec) "
        f"having Math.abs({one} - {other}) > 1;",
        "// whole: equal counts of a whole run are not exported",
        "@Name('never') select * from Event(name='a');",
        "@Name('beat') select * from pattern [every a=Event(name='a') -> "
        "(timer:interval(0.5 sec) and not Event(name='a'))];",
        "// formula : formulas and conditions are not exported",
        "// where: formulas and conditions are not exported",
    ]


def test_characters_that_a_terminal_obeys_are_spelled_out():
    hostile = "a\x1b[31m\u202e\U000e0001"
    rules = RuleSet((Rule(hostile, Never(Pattern(hostile))), Rule("\x1bx", Ltl("G p", (("p", "name == a"),)))))

    assert to_epl(rules).splitlines()[2:] == [
        "@Name('a\\u001b[31m\\u202e\\udb40\\udc01') select * from Event(name='a\\u001b[31m\\u202e\\udb40\\udc01');",
        "// \\u001bx: formulas and conditions are not exported",
    ]
