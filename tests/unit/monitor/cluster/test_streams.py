"""Audit logs, watch streams and running clusters tell the same; what they do not tell is unknown."""

import json

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import EventError, ScenarioError
from kubeproof.live.client import Client
from kubeproof.live.config import Connection
from kubeproof.live.watching import IDLE, LISTED, RELISTED, watch_all
from kubeproof.monitor.cluster.audit import changes_of_audit
from kubeproof.monitor.cluster.judges import Patience
from kubeproof.monitor.cluster.live import LiveChanges
from kubeproof.monitor.cluster.monitor import ClusterMonitor
from kubeproof.monitor.cluster.watching import changes_of_watch
from tests.unit.live.api_server import Recorded, kubeconfig, serving
from tests.unit.live.objects import deployment, node, pod, replica_set

SCENARIO = """
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  intents:
  - minReady: {target: Deployment/shop/web, count: 2, when: always}
  - noPendingForever: {target: Deployment/shop/web}
  - noEviction: {target: Deployment/shop/web}
"""
MIN_READY = "minReady Deployment/shop/web"
PENDING = "noPendingForever Deployment/shop/web"
EVICTION = "noEviction Deployment/shop/web"
OBJECTS = [node("a"), node("b"), deployment("web", 2), replica_set("web", 2)]
PODS = [pod("web-abc-1", "a"), pod("web-abc-2", "b")]


def at(second):
    return f"2026-11-16T08:{second // 60:02}:{second % 60:02}.000000Z"


def audit(second, verb, value, *, part="", user="system:x", code=200, level="RequestResponse", request=None):
    about = {
        "resource": f"{value['kind'].lower()}s",
        **{k: value["metadata"][k] for k in ("name", "namespace") if k in value["metadata"]},
    }
    record = {
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete", "level": level, "verb": verb,
        "user": {"username": user}, "objectRef": about | ({"subresource": part} if part else {}),
        "responseStatus": {"code": code}, "stageTimestamp": at(second),
    }  # fmt: skip
    if level == "RequestResponse" and part not in ("binding", "eviction"):
        record["responseObject"] = value
    return json.dumps(record | ({"requestObject": request} if request is not None else {})) + "\n"


def judged(lines, texts=(("s.yaml", SCENARIO),), **patience):
    monitor = ClusterMonitor(texts, Patience(**patience))
    return [(alarm.rule, alarm.verdict) for alarm in monitor.feed(changes_of_audit(lines, "audit.log"))]


START = [audit(0, "create", one) for one in (*OBJECTS, *PODS)]


def test_a_quiet_cluster_raises_nothing():
    assert judged([*START, audit(3000, "get", PODS[0])]) == []


def test_a_pod_that_is_deleted_breaks_what_counts_ready_pods():
    assert judged([*START, audit(5, "delete", PODS[0])]) == [(MIN_READY, "VIOLATED")]


def test_an_eviction_is_told_from_a_deletion_by_the_eviction_api():
    found = judged([*START, audit(5, "create", PODS[0], part="eviction", user="alice", code=201)])

    assert found == [(MIN_READY, "VIOLATED"), (EVICTION, "VIOLATED")]


def test_dry_runs_change_nothing():
    rehearsed = json.loads(audit(5, "delete", PODS[0])) | {"requestURI": "/api/v1/pods/x?a=b&dryRun=All"}
    body = audit(5, "delete", PODS[0], request={"kind": "DeleteOptions", "dryRun": ["All"]})
    options = {"kind": "Eviction", "deleteOptions": {"dryRun": ["All"]}}
    evicted = audit(6, "create", PODS[0], part="eviction", user="alice", code=201, request=options)

    assert judged([*START, json.dumps(rehearsed) + "\n", body, evicted]) == []


def test_a_collection_in_which_nothing_was_to_delete_is_no_gap():
    listed = {"kind": "Pod", "metadata": {"namespace": "shop"}, "items": []}

    assert judged([*START, audit(5, "deletecollection", listed)]) == []


def test_an_older_write_that_is_told_later_changes_nothing():
    def written(second, version, **status):
        one = pod("web-abc-1", "a", **status)
        return audit(second, "update", {**one, "metadata": {**one["metadata"], "resourceVersion": version}})

    newer = written(5, "10")
    older = json.loads(written(6, "9"))
    older["responseObject"]["status"]["phase"] = "Pending"

    assert judged([*START, newer, json.dumps(older) + "\n"]) == []


def test_a_refused_eviction_changes_nothing():
    assert judged([*START, audit(5, "create", PODS[0], part="eviction", user="alice", code=429)]) == []


def test_a_pod_without_a_node_is_an_alarm_only_after_the_bound():
    waiting = pod("web-abc-3", None)
    early = [*START, audit(5, "create", waiting), audit(599, "get", waiting)]
    late = [*START, audit(5, "create", waiting), audit(700, "get", waiting)]

    assert judged(early) == []
    assert judged(late) == [(PENDING, "VIOLATED")]
    assert judged(early, within_us=60_000_000) == [(PENDING, "VIOLATED")]


def test_a_binding_ends_the_wait():
    waiting = pod("web-abc-3", None)
    bound = audit(10, "create", waiting, part="binding", request={"target": {"name": "a"}})

    assert judged([*START, audit(5, "create", waiting), bound, audit(900, "get", waiting)]) == []


def test_below_request_response_every_intent_says_unknown_once():
    lines = [*START, *(audit(second, "patch", PODS[0], part="status", level="Metadata") for second in (5, 6, 7))]

    assert judged(lines) == [(MIN_READY, "UNKNOWN"), (PENDING, "UNKNOWN"), (EVICTION, "UNKNOWN")]


def test_what_looks_violated_while_an_object_is_not_known_is_unknown():
    lines = [*START, audit(5, "patch", PODS[0], part="status", level="Metadata"), audit(6, "delete", PODS[1])]

    assert judged(lines)[3:] == [(MIN_READY, "UNKNOWN")]


def test_once_the_object_is_seen_again_verdicts_are_certain_again():
    lines = [
        *START,
        audit(5, "patch", PODS[0], part="status", level="Metadata"),
        audit(6, "patch", PODS[0], part="status"),
        audit(7, "delete", PODS[1]),
    ]

    assert judged(lines)[3:] == [(MIN_READY, "VIOLATED")]


def test_earlier_stages_and_failed_requests_are_passed_over():
    received = audit(5, "delete", PODS[0]).replace("ResponseComplete", "RequestReceived")

    assert judged([*START, received, audit(6, "delete", PODS[0], code=409)]) == []


@pytest.mark.parametrize("line", ["nonsense\n", "[]\n", '{"kind": "Pod"}\n'])
def test_what_is_no_audit_log_is_refused(line):
    with pytest.raises(EventError):
        list(changes_of_audit([line], "audit.log"))


def test_a_target_that_never_comes_is_told_at_the_end():
    monitor = ClusterMonitor([("s.yaml", SCENARIO)])
    assert list(monitor.feed(changes_of_audit([audit(0, "create", node("a"))], "audit.log"))) == []

    with pytest.raises(ScenarioError, match="Deployment/shop/web"):
        monitor.finish()


def test_a_node_that_comes_later_counts_from_then_on():
    scenario = SCENARIO.replace("  - noEviction: {target: Deployment/shop/web}\n", "  - maxNodes: {count: 2}\n")
    lines = [*START, audit(9, "create", node("c"))]

    assert judged(lines, (("s.yaml", scenario),)) == [("maxNodes", "VIOLATED")]


def watch(second, what, value, **changes):
    stamped = json.loads(json.dumps(value))
    stamped["metadata"] |= {"creationTimestamp": at(second), **changes}
    return {"type": what, "object": stamped}


STREAM = [watch(0, "ADDED", one) for one in (*OBJECTS, *PODS)]


def seen(records, **layout):
    text = "".join(json.dumps(record, **layout) + "\n" for record in records)
    monitor = ClusterMonitor([("s.yaml", SCENARIO)])
    return [
        (alarm.rule, alarm.verdict) for alarm in monitor.feed(changes_of_watch(text.splitlines(True), "watch.json"))
    ]


def test_watch_streams_tell_the_same_as_audit_logs():
    gone = watch(5, "MODIFIED", PODS[0], deletionTimestamp=at(35), deletionGracePeriodSeconds=30)

    assert seen([*STREAM, gone]) == [(MIN_READY, "VIOLATED")]
    assert seen([*STREAM, gone], indent=2) == [(MIN_READY, "VIOLATED")]  # as kubectl prints


def test_who_evicted_is_read_from_the_pods_condition():
    gone = watch(5, "MODIFIED", PODS[0], deletionTimestamp=at(35), deletionGracePeriodSeconds=30)
    gone["object"]["status"]["conditions"].append(
        {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    )

    assert seen([*STREAM, gone]) == [(MIN_READY, "VIOLATED"), (EVICTION, "VIOLATED")]


def test_an_error_in_the_stream_is_a_gap():
    broken = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "metadata": {}}}

    assert {verdict for _, verdict in seen([*STREAM, broken])} == {"UNKNOWN"}


# -- a running cluster --------------------------------------------------------------------------------


def live(recorded, until):
    """The alarms and the types of notices until something is so, or for ten seconds without news."""
    client = Client(Connection(recorded.server, "test"), wait=lambda _: None)
    source = LiveChanges(8, iter(range(1, 10_000)).__next__)
    monitor = ClusterMonitor([("s.yaml", SCENARIO)], is_seeded=False)
    alarms, types = [], []
    recorded.gate.clear()

    def is_over():
        return until(alarms, types) or types.count(IDLE) > 50

    for notice in watch_all(client, None, is_over=is_over, wait=lambda _: None):
        types.append(notice.type)
        if notice.type == IDLE:
            changes = source.tick()
        elif notice.type in (LISTED, RELISTED):
            changes = source.take_listed(notice.kind, notice.objects, is_first=notice.type == LISTED)
        else:
            changes = source.take_notice(notice.type, notice.objects)
        alarms += [(alarm.rule, alarm.verdict) for alarm in monitor.feed(changes)]
        if types.count(LISTED) == 8:
            recorded.gate.set()
    return alarms, types


def watches(recorded):
    """What was asked of the watch of pods, so far."""
    return [query for _, path, query, _ in list(recorded.requests) if path == "/api/v1/pods" and "watch" in query]


def versioned(value, version):
    return {**value, "metadata": {**value["metadata"], "resourceVersion": str(version)}}


def test_a_running_cluster_is_listed_and_then_watched_with_get_requests():
    recorded = Recorded([*OBJECTS, *PODS])
    recorded.watches["Pod"] = [[{"type": "DELETED", "object": versioned(PODS[0], 50)}]]
    with serving(recorded):
        alarms, types = live(recorded, lambda alarms, _: alarms and len(watches(recorded)) > 1)

    assert alarms == [(MIN_READY, "VIOLATED")]
    assert types.count(LISTED) == 8
    asked = watches(recorded)
    assert [query["resourceVersion"] for query in asked[:2]] == ["42", "50"]  # taken up where it ended
    assert asked[0]["allowWatchBookmarks"] == "true"


def test_bookmarks_move_the_point_from_which_a_stream_is_taken_up():
    recorded = Recorded([*OBJECTS, *PODS])
    mark = {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "77"}}
    recorded.watches["Pod"] = [[{"type": "BOOKMARK", "object": mark}]]
    with serving(recorded):
        alarms, _ = live(recorded, lambda *_: len(watches(recorded)) > 1)

    assert alarms == []
    assert watches(recorded)[1]["resourceVersion"] == "77"


def test_a_forgotten_version_is_listed_again():
    recorded = Recorded([*OBJECTS, *PODS])
    recorded.watches["Pod"] = [[{"type": "ERROR", "object": {"kind": "Status", "code": 410}}]]
    with serving(recorded):
        _, types = live(recorded, lambda _, types: RELISTED in types)

    assert RELISTED in types


def began():
    """A monitor of a cluster whose kinds have all been listed."""
    source = LiveChanges(2, iter(range(1, 100)).__next__)
    monitor = ClusterMonitor([("s.yaml", SCENARIO)], is_seeded=False)
    assert list(source.take_listed("Pod", PODS, is_first=True)) == []
    assert list(monitor.feed(source.take_listed("Node", OBJECTS, is_first=True))) == []
    return source, monitor


def test_what_was_missed_before_a_new_list_is_unknown():
    source, monitor = began()
    alarms = monitor.feed(source.take_listed("Pod", PODS, is_first=False))

    assert [(alarm.rule, alarm.verdict) for alarm in alarms] == [
        (MIN_READY, "UNKNOWN"),
        (PENDING, "UNKNOWN"),
        (EVICTION, "UNKNOWN"),
    ]


def test_what_a_new_list_does_not_hold_is_gone():
    source, monitor = began()
    alarms = list(monitor.feed(source.take_listed("Pod", PODS[1:], is_first=False)))

    assert (MIN_READY, "VIOLATED") in [(alarm.rule, alarm.verdict) for alarm in alarms]


def test_the_command_watches_a_cluster_for_a_while(tmp_path, capsys):
    bounded = SCENARIO.replace(
        "minReady: {target: Deployment/shop/web, count: 2, when: always}", "maxNodes: {count: 1}"
    )
    (tmp_path / "s.yaml").write_text(bounded, encoding="utf-8")
    with serving(Recorded([*OBJECTS, *PODS])) as recorded:
        words = ["--live", "-A", "--kubeconfig", kubeconfig(tmp_path, recorded.server), "--for", "10ms"]
        assert main(["monitor", "run", "--scenario", str(tmp_path / "s.yaml"), *words]) == 1

    assert "intent maxNodes: not so: maxNodes [maxNodes;" in capsys.readouterr().out


def test_a_forbidden_kind_ends_watching_with_6(tmp_path, capsys):
    (tmp_path / "s.yaml").write_text(SCENARIO, encoding="utf-8")
    recorded = Recorded([*OBJECTS, *PODS])
    recorded.forbidden = {"Node"}
    with serving(recorded):
        words = ["--live", "-A", "--kubeconfig", kubeconfig(tmp_path, recorded.server)]
        assert main(["monitor", "run", "--scenario", str(tmp_path / "s.yaml"), *words]) == 6

    assert "forbidden to list nodes (kind Node)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--scenario", "s.yaml"], "--scenario needs one source"),
        (["--scenario", "s.yaml", "--live", "--audit-log", "x"], "--scenario needs one source"),
        (["--scenario", "s.yaml", "--audit-log", "x", "--state", "db"], "--state is for --rules"),
        (["--scenario", "s.yaml", "--audit-log", "x", "--wall-clock"], "--wall-clock is for --rules"),
        (["--scenario", "s.yaml", "--audit-log", "x", "--rules", "r.yaml"], "exclude each other"),
    ],
)
def test_wrong_usage_is_told(words, problem, capsys):
    assert main(["monitor", "run", *words]) == 2
    assert problem in capsys.readouterr().err


def test_a_file_without_a_scenario_is_not_taken_for_one(tmp_path, capsys):
    (tmp_path / "s.yaml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "node.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {name: n}}", encoding="utf-8")
    words = [str(tmp_path), "--audit-log", "x"]

    assert main(["monitor", "run", "--scenario", str(tmp_path / "node.yaml"), *words]) == 2
    assert f"{tmp_path / 'node.yaml'} holds no Scenario" in capsys.readouterr().err


def test_a_scenario_that_cannot_be_read_is_told_as_such(tmp_path, capsys):
    (tmp_path / "s.yaml").write_text("kind: [Scenario\n", encoding="utf-8")

    assert main(["monitor", "run", "--scenario", str(tmp_path / "s.yaml"), "--audit-log", "x"]) == 4
    assert "s.yaml:" in capsys.readouterr().err
