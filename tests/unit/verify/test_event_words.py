"""The line of a report about an event: it tells all of the event."""

from __future__ import annotations

import pytest

from kubeproof.verify.words.events import describe_event
from tests.unit.manifests.test_events import WEB, events_of

POOL = "nodes: {matchLabels: {pool: web}}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nodeFailure: {}", "a node fails at most once, may recover"),
        ("nodeFailure: {recovers: false, max: unlimited}", "a node fails any number of times, for good"),
        ("nodeFailure: {nodes: {names: [n1]}, after: stable}", "node n1 fails at most once, may recover, after stable"),
        ("nodeFailure: {max: 2, together: true}", "2 nodes fail together, once, may recover"),
        (
            f"nodeFailure: {{max: 2, together: true, orFewer: true, {POOL}}}",
            "up to 2 nodes with pool=web fail together, once, may recover",
        ),
        (
            "nodeFailure: {probability: 0.5, recovery: {ratePerHour: 2}}",
            "a node fails at most once, may recover, chance 0.5 per tick, recovery 2 per hour",
        ),
        ("cordon: {reversible: true, max: 2}", "a node is cordoned at most 2 times, and may be uncordoned"),
        ("drain: {nodes: {names: [n1, n2]}}", "a node of n1, n2 is drained at most once, left cordoned"),
        (
            "drain: {uncordon: true, max: 3, concurrent: 2}",
            "a node is drained at most 3 times, 2 at once, uncordoned when empty",
        ),
        (
            "maintenance: {eachOnce: true}",
            "2 node(s) are drained, one after the other, none twice, down for a while, back and uncordoned",
        ),
        ("nodeRemoval: {drainFirst: false}", "a node is deleted at most once, with all that runs there"),
        (
            f"scale: {{target: {WEB}, replicas: [1, 5], max: 1}}",
            f"{WEB} scaled to 1, 5, once each, at most once in all",
        ),
        (
            f'cpuChange: {{target: {WEB}, levels: ["20%", "90%"], initial: "90%"}}',
            f"cpu of {WEB} at 90%, or 20%, changing any number of times",
        ),
        (
            f"cpuLoad: {{target: {WEB}, levels: [600m, 2], max: 1}}",
            f"600m, or 2000m of CPU, shared by the ready pods of {WEB}, changing at most once",
        ),
        (f"cpuLoad: {{target: {WEB}, total: 600m}}", f"600m of CPU, shared by the ready pods of {WEB}"),
        (
            f'cpuPattern: {{target: {WEB}, phases: [{{usage: "100%", for: 60s}}, {{usage: "20%"}}]}}',
            f"cpu of {WEB} follows the age of its pods: 100% for 60 s, then 20%",
        ),
        (
            f'unreachable: {{target: {WEB}, recovers: false, usage: "10%"}}',
            f"pods of {WEB} get no traffic and use 10% CPU each, at most once, for good",
        ),
        (
            "zoneFailure: {topologyKey: kubernetes.io/hostname, must: true, after: stable}",
            "all nodes of one kubernetes.io/hostname fail together at most once, may recover together, after stable, "
            "must happen",
        ),
        ("kernelPanic: {}", "nodes fail above 95% of their CPU, any number of times, and come back when freed"),
        (f"podCrash: {{target: {WEB}, max: 2}}", f"a container of a pod of {WEB} exits at most 2 times"),
        (f"neverReady: {{target: {WEB}, revision: new}}", f"pods of later revisions of {WEB} never become ready"),
        (f"delete: {{target: {WEB}}}", f"{WEB} is deleted"),
        (f"rollout: {{target: {WEB}}}", f"{WEB} gets a new pod template at most once"),
    ],
)
def test_the_line_of_an_event_tells_all_of_it(text: str, words: str) -> None:
    (event,) = events_of(f"{{{text}}}")

    assert describe_event(event) == f"{event.name}: {words}"


def test_an_event_that_waits_for_several_tells_them_all() -> None:
    *_, last = events_of("{cordon: {name: a}}, {cordon: {name: b}}, {drain: {after: [stable, b, a]}}")

    assert describe_event(last).endswith("left cordoned, after b and a and stable")
