"""Spans and logs of OpenTelemetry: read from documents, and taken over HTTP without losing any."""

from __future__ import annotations

import gzip
import json
import threading
import urllib.error
import urllib.request

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import EnvironmentProblem, EventError, UsageError
from kubeproof.monitor.brokers.otlp import LARGEST, Door, OtlpDeliveries, parse_door
from kubeproof.monitor.readers.formats import read_lines
from kubeproof.monitor.rules.rules import Never, Pattern, Rule, RuleSet
from kubeproof.monitor.run import Watch, watch

SECOND_NS = 1_000_000_000
RULES = RuleSet((Rule("bad", Never(Pattern("bad"))),))


def attributes(**values):
    return [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in values.items()]


def logs(*records):
    resource = {"attributes": attributes(service__name="shop")}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": list(records)}]}]}


def spans(*named):
    found = [
        {"traceId": "t", "spanId": f"s{n}", "name": name, "startTimeUnixNano": str((n + 1) * SECOND_NS)}
        for n, name in enumerate(named)
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": found}]}]}


def read(document):
    return list(read_lines(iter([json.dumps(document)]), "logs.json"))


@pytest.mark.parametrize(
    ("record", "name"),
    [
        ({"eventName": "order placed"}, "order placed"),
        ({"attributes": attributes(event__name="paid"), "body": {"stringValue": "card 1"}}, "paid"),
        ({"body": {"stringValue": "started"}}, "started"),
    ],
)
def test_a_log_record_says_which_event_it_is(record, name):
    (event,) = read(logs({"timeUnixNano": str(5 * SECOND_NS), "traceId": "t", "severityText": "WARN", **record}))

    assert (event.time_us, event.name, event.source, event.key) == (5_000_000, name, "shop", "t")
    assert event.attributes["severity"] == "WARN"


def test_the_time_at_which_a_record_was_observed_will_do():
    (event,) = read(logs({"timeUnixNano": "0", "observedTimeUnixNano": str(SECOND_NS), "eventName": "a"}))

    assert event.time_us == 1_000_000


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"timeUnixNano": "1", "body": {"stringValue": "x" * 500}}, "does not say which event"),
        ({"timeUnixNano": "1", "body": {"stringValue": "a\nb"}}, "does not say which event"),
        ({"eventName": "a"}, "a log record without a time"),
    ],
)
def test_a_record_that_is_no_event_is_refused(record, problem):
    with pytest.raises(EventError, match=problem):
        read(logs(record))


class Sender:
    """Posts from a thread of its own what is given, one after the other, and keeps the answers."""

    def __init__(self, *posts):
        self.posts, self.answers = posts, []
        self.port = 0
        self.thread = threading.Thread(target=self.run)

    def begin(self, port):
        self.port = port
        self.thread.start()

    def run(self):
        self.answers += [self.post(**post) for post in self.posts]

    def post(self, value=None, path="/v1/traces", body=None, **headers):
        body = json.dumps(value).encode() if body is None else body
        named = {"Content-Type": "application/json"} | {name.replace("_", "-"): text for name, text in headers.items()}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body, named, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as problem:
            with problem:
                return problem.code, json.load(problem)


def watched(*posts, rules=RULES, **options):
    """What came of a monitor that was posted to, and the answers."""
    sender, heard = Sender(*posts), []

    class Keeper:
        def tell(self, alarms):
            heard.extend(alarm for _, alarm in alarms)
            return len(alarms)

    def clock():  # silent for long once the sender has all its answers
        if sender.thread.is_alive() or not sender.answers:
            return 0.0
        return 100.0

    door = Door(port=0, silence_s=50.0, tell_port=sender.begin, clock=clock)
    summary = watch(Watch(rules, ("otlp",), sinks=(Keeper(),), is_complete=True, **options), OtlpDeliveries(door))
    sender.thread.join()
    return summary, heard, sender.answers


def test_what_is_posted_is_judged_before_it_is_answered():
    summary, heard, answers = watched(
        {"value": spans("good", "bad")},
        {"value": logs({"timeUnixNano": str(9 * SECOND_NS), "eventName": "bad"}), "path": "/v1/logs"},
    )

    assert answers == [(200, {"partialSuccess": {}})] * 2
    assert [alarm.detected_us for alarm in heard] == [2_000_000, 9_000_000]
    assert summary.events == 3


def test_what_is_posted_again_counts_once():
    summary, heard, _ = watched(*[{"value": spans("good", "bad")}] * 3)

    assert (len(heard), summary.copies) == (1, 4)


def test_packed_bodies_are_read():
    body = gzip.compress(json.dumps(spans("bad")).encode())

    assert len(watched({"body": body, "Content_Encoding": "gzip"})[1]) == 1


@pytest.mark.parametrize(
    ("post", "status", "told"),
    [
        ({"path": "/v1/metrics"}, 404, "/v1/traces or /v1/logs"),
        ({"Content_Type": "application/x-protobuf"}, 415, "encoding: json"),
        ({"body": b"no gzip, but long enough", "Content_Encoding": "gzip"}, 400, "not valid gzip"),
        ({"body": gzip.compress(b" " * (LARGEST + 1)), "Content_Encoding": "gzip"}, 413, "when unpacked"),
        ({"body": b"x", "Content_Length": str(LARGEST + 1)}, 413, "a body of at most"),
    ],
)
def test_what_cannot_be_taken_is_refused_and_nothing_else_suffers(post, status, told):
    summary, heard, answers = watched(post, {"value": spans("bad")})

    assert answers[0][0] == status
    assert told in answers[0][1]["message"]
    assert (answers[1][0], len(heard), summary.lost) == (200, 1, 0)


def test_what_cannot_be_read_is_a_loss_and_the_sender_is_told():
    summary, _, answers = watched(
        {"body": b"nonsense"}, {"value": {"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}}
    )

    assert summary.lost == 2
    assert [status for status, _ in answers] == [200, 200]
    assert "not valid JSON" in answers[0][1]["partialSuccess"]["errorMessage"]


def test_a_monitor_that_is_killed_before_it_has_judged_is_posted_to_again(tmp_path):
    class Killed(Exception):
        pass

    class Deadly:
        def tell(self, alarms):
            raise Killed

    state = str(tmp_path / "state.db")
    sender = Sender({"value": spans("good", "bad", "good")})
    door = Door(port=0, silence_s=20.0, tell_port=sender.begin)
    with pytest.raises(Killed):
        watch(Watch(RULES, ("otlp",), sinks=(Deadly(),), is_complete=False), OtlpDeliveries(door))
    sender.thread.join()
    assert sender.answers == [(503, {"message": "not judged, come again"})]

    summary, heard, answers = watched({"value": spans("good", "bad", "good")}, state=state)
    assert (len(heard), answers[0][0], summary.events) == (1, 200, 3)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("otlp://4318", "127.0.0.1", 4318), ("otlp://0.0.0.0:1", "0.0.0.0", 1), ("otlp://[::1]:2", "::1", 2)],
)
def test_an_address_is_a_port_with_or_without_host(text, host, port):
    assert (parse_door(text).host, parse_door(text).port) == (host, port)


@pytest.mark.parametrize("text", ["otlp://", "otlp://x", "otlp://h:99999", "otlp://u@h:1", "otlp://h:1/v1"])
def test_another_address_is_wrong_usage(text):
    with pytest.raises(UsageError, match="not where to listen"):
        parse_door(text)


def test_a_port_in_use_is_told():
    sender = Sender()
    sender.begin = lambda port: setattr(sender, "port", port)
    listener = OtlpDeliveries(Door(port=0, silence_s=0.0, tell_port=sender.begin))

    class Nobody:
        def flush(self):
            with pytest.raises(EnvironmentProblem, match="cannot listen"):
                list(OtlpDeliveries(Door(port=sender.port)).events(None))

        def idle(self):
            pass

    assert list(listener.events(Nobody())) == []


def test_the_command_listens_until_nothing_comes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rules = "apiVersion: kubeproof.dev/v1alpha1\nkind: MonitorRules\nspec:\n  rules:\n  - never: {event: bad}\n"
    (tmp_path / "rules.yaml").write_text(rules)

    assert main(["monitor", "run", "--rules", "rules.yaml", "--until-idle", "1ms", "otlp://0"]) == 5
    assert "listening for OpenTelemetry on port " in capsys.readouterr().err
    assert main(["monitor", "run", "--rules", "rules.yaml", "--format", "csv", "otlp://0"]) == 2
