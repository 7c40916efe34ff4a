"""Traces in CSV and test plans of JMeter: what is read, and what is refused where."""

from __future__ import annotations

import pytest

from kubeproof.errors import HostileInputError, ManifestError
from kubeproof.events.workload import JMeterFile, TraceFile
from kubeproof.simulate.serving.jmeter import crowds_of
from kubeproof.simulate.serving.sources import Crowd
from kubeproof.simulate.serving.traces import pieces_of

pytest.importorskip("numpy")

INF = float("inf")


def group(
    *, threads: str = "50", ramp: str = "1", loops: str = "-1", timed: str = "true", duration: str = "180",
    delay: str = "", pause: str = "750", spread: str = "0", enabled: str = "true", inside: str = "",
) -> str:  # fmt: skip
    return f"""
    <ThreadGroup testname="g" enabled="{enabled}">
      <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
        <boolProp name="LoopController.continue_forever">false</boolProp>
        <intProp name="LoopController.loops">{loops}</intProp>
      </elementProp>
      <stringProp name="ThreadGroup.num_threads">{threads}</stringProp>
      <stringProp name="ThreadGroup.ramp_time">{ramp}</stringProp>
      <boolProp name="ThreadGroup.scheduler">{timed}</boolProp>
      <stringProp name="ThreadGroup.duration">{duration}</stringProp>
      <stringProp name="ThreadGroup.delay">{delay}</stringProp>
    </ThreadGroup>
    <hashTree>
      <UniformRandomTimer enabled="true">
        <stringProp name="ConstantTimer.delay">{pause}</stringProp>
        <stringProp name="RandomTimer.range">{spread}</stringProp>
      </UniformRandomTimer>
      <hashTree/>
      <HTTPSamplerProxy enabled="true"><stringProp name="HTTPSampler.path">/x</stringProp></HTTPSamplerProxy>
      <hashTree/>{inside}
    </hashTree>"""


TIMER = '<ConstantTimer><stringProp name="ConstantTimer.delay">250</stringProp></ConstantTimer><hashTree/>'


def plan(*groups: str, serial: str = "true") -> JMeterFile:
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2"><hashTree>
  <TestPlan><boolProp name="TestPlan.serialize_threadgroups">{serial}</boolProp></TestPlan>
  <hashTree>{"".join(groups)}</hashTree>
</hashTree></jmeterTestPlan>"""
    return JMeterFile("plan.jmx", text)


def test_groups_run_one_after_the_other_as_in_the_published_tests() -> None:
    crowds = crowds_of(plan(group(), group(pause="375"), group()))

    assert crowds == [
        Crowd(0.0, 50, 0.02, INF, 0.75, 0.75, 0.0, 180.0),
        Crowd(180.0, 50, 0.02, INF, 0.375, 0.375, 0.0, 360.0),
        Crowd(360.0, 50, 0.02, INF, 0.75, 0.75, 0.0, 540.0),
    ]


def test_groups_may_run_at_the_same_time_with_a_delay() -> None:
    crowds = crowds_of(plan(group(), group(delay="60", spread="100"), serial="false"))

    assert [(crowd.start_s, crowd.end_s, crowd.spread_s) for crowd in crowds] == [(0.0, 180.0, 0.0), (60.0, 240.0, 0.1)]


def test_loops_count_every_sampler() -> None:
    (crowd,) = crowds_of(plan(group(loops="10", timed="false", inside="<JavaSampler/><hashTree/>")))

    assert (crowd.requests, crowd.end_s) == (20, INF)


def test_a_timer_of_the_only_sampler_is_that_of_the_group() -> None:
    alone = group(pause="0").replace(
        "</HTTPSamplerProxy>\n      <hashTree/>", f"</HTTPSamplerProxy><hashTree>{TIMER}</hashTree>"
    )

    assert [crowd.pause_s for crowd in crowds_of(plan(alone))] == [0.25]


def test_one_request_of_each_thread_needs_no_timer() -> None:
    (crowd,) = crowds_of(plan(group(pause="0", loops="1", timed="false")))

    assert (crowd.requests, crowd.pause_s) == (1, 0.0)


def test_a_group_with_loops_ends_when_its_last_client_does() -> None:
    first, second = crowds_of(plan(group(loops="4", timed="false", threads="2", ramp="6", pause="500"), group()))

    assert (first.spacing_s, second.start_s) == (3.0, 8.0)


def test_what_is_disabled_is_left_out_with_what_it_holds() -> None:
    timer = '<ConstantTimer enabled="false"><stringProp name="ConstantTimer.delay">9</stringProp></ConstantTimer>'
    off = group(enabled="false", threads="no number")
    crowds = crowds_of(plan(off, group(inside=f"{timer}<hashTree><IfController/></hashTree>")))

    assert [(crowd.clients, crowd.pause_s) for crowd in crowds] == [(50, 0.75)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (plan(group(threads="${users}")).text, "num_threads is '${users}', no number from 0 on"),
        (plan(group(pause="1e999")).text, "ConstantTimer.delay is '1e999'"),
        (plan(group(loops="-2")).text, "LoopController.loops is '-2', no number from -1 on"),
        (plan(group(inside="<IfController/><hashTree/>")).text, "<IfController>"),
        (plan(group(inside="<GaussianRandomTimer/><hashTree/>")).text, "<GaussianRandomTimer>"),
        (plan("<SetupThreadGroup/><hashTree/>", group()).text, "<SetupThreadGroup>"),
        (plan(group(pause="0")).text, "without a timer"),
        (plan(group(timed="false"), group()).text, "without an end, before another one"),
        (plan("<HTTPSamplerProxy/><hashTree/>").text, "outside of a thread group"),
        (plan(group().replace("HTTPSamplerProxy", "Other")).text, "without a sampler"),
        (plan(group(pause="0", loops="2", timed="false")).text, "without a timer"),
        (plan(TIMER, group()).text, "<ConstantTimer> outside of a thread group"),
        (plan(group(), TIMER).text, "<ConstantTimer> outside of a thread group"),
        (plan(group(), "<HTTPSamplerProxy/><hashTree/>").text, "outside of a thread group"),
        (
            plan(group(inside=f"<JavaSampler/><hashTree>{TIMER}</hashTree>")).text,
            "a timer of one sampler among several",
        ),
        (plan(group(inside="<TestAction/><hashTree/>")).text, "<TestAction>"),
        (plan().text, "no thread group that is enabled"),
        ("<jmeterTestPlan>", "not valid XML"),
        (plan(group(threads="9" * 5000)).text, "more than 4,096 characters"),
    ],
)
def test_what_would_change_the_load_and_is_not_known_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=r"plan\.jmx") as refusal:
        crowds_of(JMeterFile("plan.jmx", text))

    assert problem in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><jmeterTestPlan>&b;</jmeterTestPlan>',
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><jmeterTestPlan/>',
        "<a>" * 300 + "</a>" * 300,
        f"<a>{'<b/>' * 200_001}</a>",
    ],
    ids=["bomb", "file", "depth", "count"],
)
def test_hostile_plans_are_refused(text: str) -> None:
    with pytest.raises(HostileInputError):
        crowds_of(JMeterFile("plan.jmx", text))


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 0, "no rows"),
        ("time_s,rate\n", 0, "no rows"),
        ("time_s,rate\n0,1\n0,2\n", 3, "times that do not grow"),
        ("5,1\n4,2\n", 2, "times that do not grow"),
        ("0,1,2\n", 1, "3 columns"),
        ("0,nan\n", 1, "'nan' is no number from 0 on"),
        ("0,-1\n", 1, "'-1' is no number"),
        ("0,1_0\n", 1, "'1_0' is no number"),
        ("0,1e10\n", 1, "a rate above 1e+09"),
        ("0," + "1" * 100 + "\n", 1, "is no number"),
        ('0,1\n1,"2\n', 2, "no CSV"),
    ],
)
def test_traces_are_refused_where_they_are_wrong(text: str, line: int, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem.replace("+", r"\+")) as refusal:
        pieces_of(TraceFile("load.csv", text))

    assert (refusal.value.file, refusal.value.line) == ("load.csv", line)
