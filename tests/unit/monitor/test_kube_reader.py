"""Events of the API and watch streams as events for rules."""

import json

import pytest

from kubeproof.errors import EventError
from kubeproof.monitor.readers.formats import read_events
from kubeproof.monitor.readers.kube import read_kube

FAILED = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "web-1.17", "namespace": "shop", "uid": "u1", "creationTimestamp": "2026-11-16T08:00:00Z"},
    "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-1"},
    "reason": "FailedScheduling",
    "message": "0/3 nodes are available",
    "lastTimestamp": "2026-11-16T08:00:05Z",
    "count": 4,
    "type": "Warning",
    "source": {"component": "default-scheduler"},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web-1",
        "namespace": "shop",
        "resourceVersion": "9",
        "creationTimestamp": "2026-11-16T08:00:00Z",
    },
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "lastTransitionTime": "2026-11-16T08:00:07Z"}]},
}


def read(*records, **layout):
    text = "".join(json.dumps(record, **layout) + "\n" for record in records)
    return list(read_kube(text.splitlines(True), "events.json"))


def test_an_event_of_the_api_is_named_by_its_reason():
    (event,) = read(FAILED)

    assert (event.name, event.source, event.target, event.key) == (
        "FailedScheduling",
        "default-scheduler",
        "shop/web-1",
        "shop/web-1",
    )
    assert event.time_us == 1_794_816_005_000_000
    assert event.attributes == {"kind": "Pod", "type": "Warning", "message": "0/3 nodes are available", "count": "4"}


def test_events_of_the_newer_group_are_read_the_same_way():
    newer = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "x"},
        "regarding": FAILED["involvedObject"],
        "reason": "Evicted",
        "note": "low on memory",
        "eventTime": "2026-11-16T08:00:05.5Z",
        "reportingController": "kubelet",
    }
    (event,) = read(newer)

    assert (event.name, event.source, event.time_us) == ("Evicted", "kubelet", 1_794_816_005_500_000)


def test_a_watch_stream_is_named_by_type_and_kind():
    (event,) = read({"type": "MODIFIED", "object": POD})

    assert (event.name, event.target, event.time_us) == ("MODIFIED Pod", "shop/web-1", 1_794_816_007_000_000)
    assert event.attributes == {"kind": "Pod", "phase": "Running"}


def test_objects_over_several_lines_and_lists_are_read():
    assert [event.name for event in read(POD, FAILED, indent=4)] == ["MODIFIED Pod", "FailedScheduling"]
    assert [event.name for event in read({"kind": "PodList", "apiVersion": "v1", "items": [POD, POD]})] == [
        "ADDED Pod"
    ] * 2


def test_bookmarks_are_passed_over():
    assert read({"type": "BOOKMARK", "object": POD}) == []


def test_a_deletion_that_is_set_for_the_future_happens_when_it_is_asked_for():
    leaving = {"deletionTimestamp": "2026-11-16T08:01:00Z", "deletionGracePeriodSeconds": 30}
    (event,) = read({"type": "MODIFIED", "object": {**POD, "metadata": {**POD["metadata"], **leaving}}})

    assert event.time_us == 1_794_816_030_000_000


@pytest.mark.parametrize("text", ['{"kind": "Pod", "apiVersion": "v1"}\n', "{\n", "[1]\n"])
def test_what_is_no_object_is_refused(text):
    with pytest.raises(EventError):
        list(read_kube(text.splitlines(True), "x"))


def test_the_format_is_recognised(tmp_path):
    file = tmp_path / "events.json"
    file.write_text(json.dumps(FAILED) + "\n", encoding="utf-8")

    assert [event.name for event in read_events(str(file))] == ["FailedScheduling"]
