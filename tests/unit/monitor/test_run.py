"""Watching survives crashes: no alarm is lost, none is raised twice, and everybody hears of each."""

from __future__ import annotations

import json
import random
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kubeproof.errors import CheckpointError, EnvironmentProblem, UsageError
from kubeproof.monitor.alarms import Alarm, Kind, from_value, to_value
from kubeproof.monitor.event import Event
from kubeproof.monitor.intake.stream import StreamMonitor, StreamOptions
from kubeproof.monitor.metrics import Metrics
from kubeproof.monitor.rules.rules import AtMost, FollowedBy, Matching, Pattern, Rule, RuleSet
from kubeproof.monitor.run import Summary, Watch, watch
from kubeproof.monitor.serving import pages_of, parse_address, serve
from kubeproof.monitor.sinks import StreamSink, Webhook
from kubeproof.monitor.store import Store
from kubeproof.monitor.times import parse_time, show_time
from kubeproof.report.monitor import alarm_ndjson, alarm_text, summary_text

SECOND = 1_000_000
RULES = RuleSet(
    (
        Rule("pair", FollowedBy(Pattern("a"), Pattern("b"), 5 * SECOND)),
        Rule("key", FollowedBy(Pattern("a"), Pattern("c"), 8 * SECOND, Matching.KEY)),
        Rule("most", AtMost(Pattern("x"), 3, 4 * SECOND)),
        Rule("run", AtMost(Pattern("x"), 3, None)),
    )
)


def noise(count, seed=1):
    chance = random.Random(seed)
    now, found = 0, []
    for number in range(count):
        now += chance.randrange(2 * SECOND)
        found.append(
            Event(now - chance.randrange(SECOND), chance.choice("abcx"), key=chance.choice("klm"), id=str(number))
        )
    return found


STREAM = noise(600)
OPTIONS = StreamOptions(lateness_us=2 * SECOND)


class Crash(Exception):
    """The process dies."""


def dying(events, after):
    yield from events[:after]
    raise Crash


def attempt(tmp_path, events, after=None, heard=None):
    """One process: dies after so many events, or ends."""
    sink = StreamSink((heard if heard is not None else []).append, alarm_ndjson)
    files = ((str(tmp_path / "alarms.ndjson"), alarm_ndjson),)
    wanted = Watch(RULES, ("input",), OPTIONS, files, (sink,), str(tmp_path / "state.db"), batch=7)
    return watch(wanted, lambda listener: events if after is None else dying(events, after))


def uninterrupted():
    monitor = StreamMonitor(RULES, OPTIONS)
    return monitor.feed(STREAM) + monitor.finish(complete=True)


def test_a_stream_without_interruption_raises_numbered_alarms(tmp_path):
    summary = attempt(tmp_path, STREAM)

    expected = uninterrupted()
    assert (tmp_path / "alarms.ndjson").read_text() == "".join(alarm_ndjson(one) for one in expected)
    assert summary.violated == len(expected) == 184
    assert [rule.name for rule in summary.resting] == ["run"]


def test_crashes_lose_no_alarm_and_repeat_none(tmp_path):
    chance = random.Random(3)
    for after in sorted(chance.randrange(len(STREAM)) for _ in range(20)):
        with pytest.raises(Crash):
            attempt(tmp_path, STREAM, after)
    attempt(tmp_path, STREAM)

    assert (tmp_path / "alarms.ndjson").read_text() == "".join(alarm_ndjson(one) for one in uninterrupted())
    store = Store(str(tmp_path / "state.db"))
    assert store.alarms() == uninterrupted()
    store.close()


def test_alarms_that_were_permanent_but_not_told_are_told_after_the_restart(tmp_path):
    class Deaf:
        def tell(self, alarms):
            return 0

    wanted = Watch(RULES, ("input",), OPTIONS, (), (Deaf(),), str(tmp_path / "state.db"))
    assert watch(wanted, lambda listener: STREAM).undelivered == 184
    heard = []

    attempt(tmp_path, STREAM, heard=heard)

    assert "".join(heard) == "".join(alarm_ndjson(one) for one in uninterrupted())


def test_a_finished_stream_is_not_watched_again(tmp_path):
    attempt(tmp_path, STREAM)
    heard = []

    assert attempt(tmp_path, STREAM, heard=heard).violated == 184
    assert heard == []


def test_what_a_crash_left_in_a_file_is_cut_off(tmp_path):
    with pytest.raises(Crash):
        attempt(tmp_path, STREAM, 300)
    with (tmp_path / "alarms.ndjson").open("a") as file:
        file.write('{"half an alarm')
    attempt(tmp_path, STREAM)

    assert (tmp_path / "alarms.ndjson").read_text() == "".join(alarm_ndjson(one) for one in uninterrupted())


def test_an_output_file_that_is_gone_is_written_anew(tmp_path):
    with pytest.raises(Crash):
        attempt(tmp_path, STREAM, 300)
    (tmp_path / "alarms.ndjson").unlink()
    attempt(tmp_path, STREAM)

    assert (tmp_path / "alarms.ndjson").read_text() == "".join(alarm_ndjson(one) for one in uninterrupted())


def test_a_state_of_other_rules_is_refused(tmp_path):
    attempt(tmp_path, STREAM)

    with pytest.raises(CheckpointError, match="belongs to other rules, options or inputs"):
        watch(Watch(RULES, ("other",), OPTIONS, state=str(tmp_path / "state.db")), lambda listener: [])


def test_a_state_in_use_is_refused(tmp_path):
    store = Store(str(tmp_path / "state.db"))
    with pytest.raises(CheckpointError, match="is in use"):
        Store(str(tmp_path / "state.db"))
    store.close()


def test_a_file_that_is_no_state_is_refused(tmp_path):
    (tmp_path / "state.db").write_text("something else, and long enough to be no database" * 20)

    with pytest.raises(CheckpointError, match="not a database"):
        Store(str(tmp_path / "state.db"))


def test_a_state_where_nothing_can_be_written_is_told(tmp_path):
    with pytest.raises(EnvironmentProblem, match="unable to open"):
        Store(str(tmp_path / "none" / "state.db"))


def test_an_input_that_has_shrunk_is_told(tmp_path):
    with pytest.raises(Crash):
        attempt(tmp_path, STREAM, 300)

    with pytest.raises(EnvironmentProblem, match="the input has 10 events, but 294 had been taken"):
        attempt(tmp_path, STREAM[:10])


def test_an_output_that_cannot_be_written_is_told(tmp_path):
    wanted = Watch(RULES, (), files=((str(tmp_path / "no" / "alarms"), alarm_text),))

    with pytest.raises(EnvironmentProblem, match="cannot write"):
        watch(wanted, lambda listener: [])


def test_runs_are_watched_apart():
    events = [Event(0, "a", run="one"), Event(0, "a", run="two"), Event(1, "b", run="two"), Event(2, "c", run="two")]
    monitor = StreamMonitor(RuleSet(RULES.rules[:1]))

    alarms = monitor.feed(events) + monitor.finish(complete=True)

    assert [(number, alarm.run, alarm.about) for number, alarm in alarms] == [(1, "one", "b")]
    assert (monitor.runs, monitor.resting()) == (2, [])


def test_of_too_many_runs_the_one_that_was_silent_longest_is_given_up():
    monitor = StreamMonitor(RULES, StreamOptions(most_runs=2))

    alarms = monitor.feed([Event(0, "a", run=str(number)) for number in range(3)])

    assert [(alarm.kind, alarm.run, alarm.verdict) for _, alarm in alarms] == [(Kind.OVERFLOW, "0", "UNKNOWN")]
    assert (monitor.runs, monitor.counts.given_up) == (2, 1)


def test_while_nothing_comes_what_came_is_judged_and_time_passes():
    heard = []

    def source(listener):
        yield Event(0, "a")
        listener.idle()
        heard.append("idle")
        yield Event(100 * SECOND, "x")

    wanted = Watch(RuleSet(RULES.rules[:1]), (), sinks=(StreamSink(heard.append, lambda one: one[1].kind.value),))
    watch(wanted, source, clock=lambda: 60.0)

    assert heard == ["missing", "idle"]


def test_an_answer_that_is_held_back_has_come_when_time_passes():
    heard = []

    def source(listener):
        yield Event(0, "a")
        yield Event(SECOND, "b")  # nothing comes after it that shows that it is in order
        listener.idle()
        heard.append("idle")

    tell = StreamSink(heard.append, lambda one: one[1].kind.value)
    watch(Watch(RuleSet(RULES.rules[:1]), (), OPTIONS, sinks=(tell,)), source, clock=lambda: 60.0)

    assert heard == ["idle"]


def test_what_is_lost_may_have_happened_up_to_the_next_event():
    monitor = StreamMonitor(RuleSet(RULES.rules[:1]))
    monitor.feed([Event(0, "x")])
    monitor.lose()  # perhaps the a of this b
    state = monitor.state()
    again = StreamMonitor(RuleSet(RULES.rules[:1]))
    again.restore(json.loads(json.dumps(state)), json.loads(json.dumps(monitor.changes())))

    for one in (monitor, again):
        assert [alarm.verdict for _, alarm in one.feed([Event(60 * SECOND, "b")])] == ["UNKNOWN"]
        assert [alarm.verdict for _, alarm in one.feed([Event(90 * SECOND, "b")])] == ["VIOLATED"]


def test_an_open_end_leaves_obligations_open():
    wanted = Watch(RuleSet(RULES.rules[:1]), (), is_complete=False)

    summary = watch(wanted, lambda listener: [Event(0, "a")])

    assert (summary.violated, summary.open) == (0, 1)
    assert summary_text(summary) == "note: 1 obligations are still open\nquiet: 0 alarms, 0 unknown, 1 events\n"


ALARM = Alarm("r\x1b", Kind.MISSING, "b", "a was not followed by b", SECOND, 6 * SECOND, 6 * SECOND, run="q", key="k")


@pytest.mark.parametrize(
    ("counts", "word", "code"),
    [
        ({}, "quiet", 0),
        ({"gaps": 1}, "UNKNOWN", 3),
        ({"late": 1}, "UNKNOWN", 3),
        ({"gaps": 1, "violated": 1}, "VIOLATED", 1),
        ({"events": 0}, "quiet", 5),
        ({"undelivered": 1}, "quiet", 6),
        ({"violated": 1, "undelivered": 1}, "VIOLATED", 1),
        ({"is_interrupted": True}, "quiet", 130),
        ({"violated": 1, "is_interrupted": True}, "VIOLATED", 1),
    ],
)
def test_what_was_lost_makes_quiet_unknown(counts, word, code):
    numbers = {"events": 9, "copies": 0, "late": 0, "gaps": 0, "violated": 0, "unknown": 0, "open": 0, "undelivered": 0}
    summary = Summary(**{**numbers, **counts}, resting=())

    assert (summary.verdict, summary.exit_code) == (word, code)
    assert f"{word}: " in summary_text(summary)


@pytest.mark.parametrize(
    ("time_us", "shown"), [(2**62, "4611686018427.388s"), (253_402_300_799 * SECOND, "9999-12-31T23:59:59Z")]
)
def test_no_time_is_too_late_to_be_told(time_us, shown):
    assert show_time(time_us) == shown


@pytest.mark.parametrize(("text", "time_us"), [("5e-05", 50), ("1.7E9", 1_700_000_000 * SECOND), ("1e99", None)])
def test_times_may_have_exponents(text, time_us):
    assert parse_time(text) == time_us


def test_an_alarm_survives_json():
    assert from_value(json.loads(json.dumps(to_value(ALARM, 3)))) == ALARM


def test_an_alarm_is_harmless_for_a_terminal():
    assert alarm_text((3, ALARM)) == (
        "VIOLATED 6.000s run q missing b: a was not followed by b "
        "[r\\x1b; evidence from 1.000s, detected after 5s, alarm 3, incident 0 warning]\n"
    )


class Receiver:
    """A web server on the loopback interface that refuses so many requests first."""

    def __init__(self, refusals, handler=None):
        received = self.received = []
        left = [refusals]

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                left[0] -= 1
                takes = left[0] < 0  # asked once: the client's next request may be at work before this one ends
                if takes:
                    received.append((self.headers["Idempotency-Key"], json.loads(body)["about"]))
                self.send_response(200 if takes else 503)
                self.end_headers()

            def log_message(self, format, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler or Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *problem):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}/alarms"


def test_a_webhook_is_tried_again_and_gets_alarms_in_order():
    waits = []
    with Receiver(2) as receiver:
        assert Webhook(receiver.url, wait=waits.append).tell([(1, ALARM), (2, ALARM)]) == 2

    assert (receiver.received, waits) == ([("1", "b"), ("2", "b")], [0.2, 0.4])


def test_a_webhook_that_takes_nothing_stops_at_the_first_alarm():
    with Receiver(9) as receiver:
        webhook = Webhook(receiver.url, wait=lambda seconds: None)
        assert webhook.tell([(1, ALARM), (2, ALARM)]) == 0

    assert (webhook.failures, receiver.received) == (1, [])


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://", "http://[x", "http://h:99999/", "http://h/a b", "http://me:secret@h/"]
)
def test_a_webhook_must_be_a_url(url):
    with pytest.raises(UsageError, match="not a URL that can be posted to") as told:
        Webhook(url)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n", b"hello, this is no HTTP\r\n\r\n"]
)
def test_a_webhook_that_sends_elsewhere_or_talks_nonsense_has_not_taken_the_alarm(answer):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.wfile.write(answer)

        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, format, *args):
            pass

    with Receiver(0, Handler) as receiver:
        assert Webhook(receiver.url, wait=lambda seconds: None).tell([(1, ALARM)]) == 0
    assert asked == []


def test_metrics_are_served_on_the_loopback_interface():
    metrics = Metrics()
    metrics.add([ALARM, ALARM._replace(rule='"q"', verdict="UNKNOWN")])
    with serve(pages_of(metrics), *parse_address("0")) as port:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        with pytest.raises(urllib.error.HTTPError, match="404") as caught:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/")
        caught.value.close()

    assert 'kubeproof_monitor_alarms_total{rule="\\"q\\"",verdict="UNKNOWN"} 1' in lines
    assert 'kubeproof_monitor_time_to_detect_seconds_bucket{le="5"} 2' in lines
    assert "kubeproof_monitor_time_to_detect_seconds_sum 10" in lines
    assert "kubeproof_monitor_events_total 0" in lines


@pytest.mark.parametrize(
    ("text", "address"), [("9464", ("127.0.0.1", 9464)), ("0.0.0.0:1", ("0.0.0.0", 1)), ("[::1]:2", ("::1", 2))]
)
def test_an_address_is_a_port_with_or_without_host(text, address):
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["x", "1:x", "99999", ""])
def test_what_is_no_address_is_wrong_usage(text):
    with pytest.raises(UsageError, match="is no address"):
        parse_address(text)


def test_a_port_in_use_is_told():
    taken = pytest.raises(EnvironmentProblem, match="cannot serve metrics")

    with serve(pages_of(Metrics()), "127.0.0.1", 0) as port, taken, serve(pages_of(Metrics()), "127.0.0.1", port):
        pass
