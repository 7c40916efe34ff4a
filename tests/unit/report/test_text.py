from dataclasses import replace

from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.objects import Source
from kubeproof.engine.stopped import StoppedBy, StopReason
from kubeproof.report.style import Style
from kubeproof.report.verification.text import render, render_replay
from kubeproof.verify.facts import Fact
from kubeproof.verify.result import ReplayReport, Statistics, Trace
from tests.unit.report.results import PROOF, RESULT, TRACE, VIOLATION

EXPECTED = """\
Scenario one-node-down

Scope
  nodes      3
  workloads  Deployment/shop/web

VIOLATED S004 schedulable (web fits) Deployment/shop/web
  pod shop/web-1 has no feasible node
  declared at scenario.yaml:9
  Shortest run (2 steps, 3 nodes, 1 pod)
     1      0s  replicaset  creates shop/web-1
     2      3s  scheduler   binds shop/web-1 to node-a
  In the end
    node-b: PodTopologySpread skew 2 above 1
  Objects involved
    Deployment/shop/web  web.yaml:4
    Node/node-b          nodes.yaml:20
  What to change: Raise maxSkew to 2.
  More: kubeproof explain S004
  Replay: kubeproof replay trace.json

HOLDS L001 settles
  every run becomes stable
  declared at the default scenario
  1 state, 1 transition, 3 nodes, 1 pod

Not modelled (1)
  kind Service (web.yaml:40)

Statistics
  1,200 states, 3,400 transitions, depth 17
  0.50 s, 2,400 states/s, compiled engine
  1,000 controller calls, 95.0 % answered from memory
  reductions: symmetry

VIOLATED: 2 properties checked (1 HOLDS, 1 VIOLATED)
"""


def test_a_report_has_scope_verdicts_trace_places_remedy_and_the_verdict_last():
    assert render(RESULT, Style(replay_command="kubeproof replay trace.json")) == EXPECTED


def test_long_lists_of_the_scope_are_shown_as_far_as_a_screen_allows():
    names = ", ".join(f"Deployment/shop/service-{number} x 3" for number in range(80))
    long = replace(RESULT, scope=(("workloads", names), ("abstraction", f"long, {'word ' * 100}told")))

    (told,) = (line for line in render(long, Style()).splitlines() if line.startswith("  workloads "))
    assert len(told) < 430
    assert told.endswith("x 3, … -v shows all")
    assert "told" in render(long, Style())
    assert names in render(long, Style(verbose=True))


def test_a_quiet_report_has_verdicts_only():
    assert render(RESULT, Style(quiet=True)).splitlines() == [
        "VIOLATED S004 schedulable (web fits) Deployment/shop/web",
        "HOLDS L001 settles",
        "VIOLATED: 2 properties checked (1 HOLDS, 1 VIOLATED)",
    ]


def test_a_quiet_report_does_not_point_at_what_it_leaves_out():
    left_out = replace(RESULT, verdict="HOLDS", results=RESULT.results[1:], not_modelled=("kind Widget: not modelled",))

    assert render(left_out, Style(quiet=True)).endswith("; 1 thing in the input not modelled (listed without -q)\n")
    assert render(left_out, Style()).endswith("; 1 thing in the input not modelled, see above\n")


def test_a_verbose_report_has_the_numbers_behind_each_step():
    lines = render(RESULT, Style(verbose=True)).splitlines()

    assert lines.count("                because node-a scores 100") == 1


def test_a_counterexample_without_details_leaves_their_headings_out():
    bare = replace(VIOLATION, sources=(), remedy="", trace=Trace(TRACE.steps))

    text = render(replace(RESULT, results=(bare,)), Style())

    assert not any(word in text for word in ("In the end", "Objects", "What to change", "Replay"))


def test_statistics_without_time_or_memory_say_only_what_is_known():
    stopped = Statistics(states=5, transitions=4, depth=1, stopped_by=StoppedBy(StopReason.TIME, 60))

    lines = render(replace(RESULT, statistics=stopped), Style()).splitlines()

    assert lines[-5:-3] == ["  5 states, 4 transitions, depth 1", "  0.00 s"]
    assert lines[-3] == "  stopped early: 60 s. How to get further: kubeproof explain UNKNOWN"


def test_nothing_checked_is_said():
    text = render(replace(RESULT, results=(), verdict="VACUOUS"), Style())

    assert text.splitlines()[-1] == "VACUOUS: 0 properties checked"


def test_the_verdict_is_coloured_only_when_asked():
    assert render(RESULT, Style(colour=True)).splitlines()[-1].startswith("\x1b[1;31mVIOLATED\x1b[0m: ")
    assert "\x1b" not in render(RESULT, Style())


def test_text_from_manifests_cannot_reach_the_terminal_raw():
    evil = "\x1b[2J\u202e\nHOLDS"
    hostile = replace(
        VIOLATION,
        intent=evil,
        target=evil,
        detail=evil,
        remedy=evil,
        sources=((evil, Source(evil, 1)),),
        location=Source(evil, 1),
        trace=Trace(
            (replace(TRACE.steps[0], actor=Actor(ActorKind.EVENT, evil), action=evil, why=(evil,)),),
            0,
            evil,
            (Fact(evil, evil, evil, evil),),
        ),
    )
    result = replace(RESULT, scenario=evil, scope=((evil, evil),), results=(hostile, PROOF), not_modelled=(evil,))

    text = render(result, Style(verbose=True, replay_command=evil))

    assert all(line.isprintable() for line in text.split("\n"))
    assert [line for line in text.split("\n") if line.startswith("HOLDS")] == ["HOLDS L001 settles"]


def test_a_replay_shows_what_each_step_changed_and_the_verdict_last():
    report = ReplayReport(
        scenario="one-node-down",
        intent="web fits",
        steps=TRACE.steps,
        loop_start=None,
        verdict="VIOLATED",
        detail="pod shop/web-1 has no feasible node",
        final=TRACE.final,
    )

    assert render_replay(report, Style()).splitlines() == [
        "Replay of web fits in scenario one-node-down",
        "",
        "   1      0s  replicaset  creates shop/web-1",
        "              Pod/shop/web-1 spec.nodeName = node-a",
        "   2      3s  scheduler   binds shop/web-1 to node-a",
        "              Pod/shop/web-1 spec.nodeName = node-a",
        "",
        "In the end",
        "  node-b: PodTopologySpread skew 2 above 1",
        "",
        "VIOLATED: pod shop/web-1 has no feasible node",
    ]


def test_a_verdict_that_leaves_parts_of_the_input_out_says_so_last():
    holding = replace(RESULT, verdict="HOLDS", results=RESULT.results[1:], not_modelled=("kind Service shop/web",))

    last = render(holding, Style()).splitlines()[-1]

    assert last.endswith("; 1 thing in the input not modelled, see above")
