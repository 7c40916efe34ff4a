"""Events are read from what people have: JSON lines, CSV, audit logs, spans, a reader of their own."""

from __future__ import annotations

import gzip
import json

import pytest

from kubeproof.errors import EventError, UsageError
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.formats import read_events

ZIPKIN = {
    "traceId": "t1", "id": "s1", "name": "attach", "timestamp": 1700000000000000, "duration": 5, "kind": "CLIENT",
    "localEndpoint": {"serviceName": "nova"}, "remoteEndpoint": {"serviceName": "cinder"}, "tags": {"error": "x"},
}  # fmt: skip
OTLP = {
    "resourceSpans": [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
            "scopeSpans": [
                {
                    "spans": [
                        {"traceId": "t", "spanId": "b", "name": "later", "startTimeUnixNano": "1700000000000002000"},
                        {
                            "traceId": "t", "spanId": "a", "name": "pay", "startTimeUnixNano": "1700000000000001000",
                            "attributes": [{"key": "peer.service", "value": {"stringValue": "bank"}}],
                            "status": {"code": 2},
                        },
                    ]
                }
            ],
        }
    ]
}  # fmt: skip
AUDIT = {
    "kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": "u1", "stage": "ResponseComplete", "verb": "create",
    "user": {"username": "system:kube-scheduler"}, "stageTimestamp": "2026-11-16T08:00:00.123456Z",
    "objectRef": {"resource": "pods", "subresource": "binding", "namespace": "shop", "name": "web-1"},
    "responseStatus": {"code": 201},
}  # fmt: skip


def events(tmp_path, content, form="auto", name="events"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_events(str(path), form))


def test_json_lines_have_time_name_and_attributes(tmp_path):
    line = {"time": 1.5, "name": "a", "source": "s", "target": "t", "key": "k", "run": "r", "id": "i", "seq": 3, "x": 1}

    assert events(tmp_path, json.dumps(line) + "\n\n") == [
        Event(1_500_000, "a", "s", "t", "k", "r", "i", 3, {"x": "1"})
    ]


def test_nested_attributes_are_attributes(tmp_path):
    assert events(tmp_path, '{"t_us": 7, "event": "a", "attributes": {"x": true, "name": "b"}}')[0].attributes == {
        "x": "true",
        "attributes.name": "b",
    }


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ('"time": "2026-11-16T08:00:00Z"', 1794816000_000000),
        ('"time": "2026-11-16T08:00:00.1234567+00:00"', 1794816000_123456),
        ('"time": -0.5', -500_000),
        ('"time_ms": 2', 2_000),
        ('"t_ns": 2500', 2),
    ],
)
def test_times_have_units_or_are_dates(tmp_path, time, expected):
    assert events(tmp_path, f'{{"name": "a", {time}}}')[0].time_us == expected


def test_csv_reads_the_same_fields(tmp_path):
    rows = "run,t_us,dur_us,kind,topic,method,req,err\nr1,-5,7,call,compute,attach,9,\nr1,6,,request,,,,NotFound\n"

    assert events(tmp_path, rows) == [
        Event(-5, "compute_attach", key="9", run="r1", attributes={"dur_us": "7", "kind": "call"}),
        Event(6, "request", run="r1", attributes={"kind": "request", "err": "NotFound"}),
    ]


def test_csv_with_seconds_and_sequence_reads_the_same(tmp_path):
    assert events(tmp_path, 'time,name,seq\n1.25,"a, b",4\n') == [Event(1_250_000, "a, b", sequence=4)]


def test_gzip_is_recognised(tmp_path):
    assert events(tmp_path, gzip.compress(b'{"time": 1, "name": "a"}\n')) == [Event(1_000_000, "a")]


def test_audit_events_are_named_by_verb_and_resource(tmp_path):
    received = {**AUDIT, "stage": "RequestReceived"}

    assert events(tmp_path, f"{json.dumps(received)}\n{json.dumps(AUDIT)}\n") == [
        Event(
            1794816000_123456, "create pods/binding", "system:kube-scheduler", "shop/web-1", "shop/web-1", "", "u1",
            None, {"verb": "create", "resource": "pods/binding", "namespace": "shop", "code": "201"},
        )
    ]  # fmt: skip


@pytest.mark.parametrize("text", [json.dumps([ZIPKIN]), json.dumps(ZIPKIN), json.dumps([ZIPKIN], indent=1)])
def test_zipkin_spans_are_events_at_their_start(tmp_path, text):
    attributes = {"tag.error": "x", "kind": "CLIENT", "duration": "5"}

    assert events(tmp_path, text) == [
        Event(1700000000000000, "attach", "nova", "cinder", "t1", "", "t1:s1:CLIENT", None, attributes)
    ]


def test_otlp_spans_come_in_order_of_time(tmp_path):
    assert [(one.name, one.source, one.target, one.attributes) for one in events(tmp_path, json.dumps(OTLP))] == [
        ("pay", "shop", "bank", {"tag.peer.service": "bank", "error": "true"}),
        ("later", "shop", "", {}),
    ]


def test_an_own_reader_is_one_python_file(tmp_path):
    own = tmp_path / "mine.py"
    own.write_text(
        "from kubeproof.monitor.event import Event\n"
        "def read(lines, file):\n    return (Event(int(one), 'tick') for one in lines)\n"
    )

    assert events(tmp_path, "3\n5\n", f"{own}:read") == [Event(3, "tick"), Event(5, "tick")]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("def read(lines, file):\n    return [1]\n", "yields int"),
        ("def read(lines, file):\n    yield 1 / 0\n", "ZeroDivisionError"),
        ("", "has no function 'read'"),
    ],
)
def test_a_fault_of_an_own_reader_is_told_as_such(tmp_path, body, problem):
    own = tmp_path / "mine.py"
    own.write_text(body)

    with pytest.raises(UsageError, match=problem):
        events(tmp_path, "3\n", f"{own}:read")


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ('{"time": 1, "name": "a"}\n{"time": 1}\n', 2, "an event without a name"),
        ('{"name": "a"}\n', 1, "an event without a time"),
        ('{"name": "a", "time": NaN}\n', 1, "time is no time"),
        ('{"name": "a", "time": 1, "seq": -1}\n', 1, "the sequence is no number"),
        ('{"name": "a", "time": 1}\n{"name\n', 2, "not valid JSON"),
        ('{"name": "a", "time": 1}\n[1]\n', 2, "not a JSON object"),
        ('{"name": "a", "time": ' + "9" * 5000 + "}\n", 1, "time is no time"),
        ("time,name\n1,a\n2\n", 3, "1 fields where the header has 2"),
        ('time,name\n1,"a\n', 2, "not valid CSV"),
        (b'{"time": 1, "name": "a"}\n\xff\n', 2, "not valid UTF-8"),
        ('{"name": "a", "x": "' + "y" * 2**21, 1, "a line of more than a mebibyte"),
        (json.dumps(AUDIT) + "\n{}\n", 2, "not an audit event"),
        ('[{"traceId": "t", "timestamp": 1}]', 1, "a span without a name"),
        ('[{"traceId": "t", "timestamp": "x", "name": "a"}]', 1, "a span without a start"),
        (b"\x1f\x8bbroken", 0, "cannot be read"),
        ("[" * 100_000, 1, "not valid JSON"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_with_its_line(tmp_path, content, line, problem):
    with pytest.raises(EventError, match=problem) as caught:
        events(tmp_path, content)

    assert (caught.value.line, caught.value.code, caught.value.exit_code) == (line, "E103", 4)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(EventError, match="cannot be read: No such file"):
        list(read_events(str(tmp_path / "nothing")))


def test_an_empty_file_has_no_events(tmp_path):
    assert events(tmp_path, "\n") == []


def test_an_unknown_format_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="--format 'xml' is unknown"):
        events(tmp_path, "", "xml")


@pytest.mark.parametrize("name", ["events.jsonl", "events.ndjson"])
def test_a_file_named_like_json_lines_is_judged_as_json_lines(tmp_path, name):
    path = tmp_path / name
    path.write_text('oops\n{"time": 1, "name": "a, b"}\n', encoding="utf-8")

    with pytest.raises(EventError) as refused:
        list(read_events(str(path)))
    assert str(refused.value).startswith(f"E103 {path}:1: not valid JSON")
