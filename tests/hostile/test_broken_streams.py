"""Records that cannot be read are counted as lost, whatever is wrong with them, and cost no alarm found elsewhere."""

from __future__ import annotations

import gzip
import json
import random

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import EventError
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.formats import read_events
from kubeproof.monitor.rules.rules import AtMost, FollowedBy, Never, Pattern, Rule, RuleSet
from kubeproof.monitor.run import Watch, watch

SECOND = 1_000_000
RULES = """
apiVersion: kubeproof.dev/v1alpha1
kind: MonitorRules
spec:
  rules:
  - name: answered
    followedBy: {first: a, then: b, within: 5s}
  - name: few
    atMost: {event: x, count: 1, per: 1m}
"""
BROKEN = {
    "cut off": b'{"time": 6, "na',
    "no JSON": b"oops",
    "a list": b"[1, 2]",
    "a number": b"17",
    "no time": b'{"name": "a"}',
    "a list as time": b'{"name": "a", "time": [1]}',
    "an object as name": b'{"name": {"x": 1}, "time": 6}',
    "not a number": b'{"name": "a", "time": NaN}',
    "infinity": b'{"name": "a", "time": Infinity}',
    "a huge number": b'{"name": "a", "time": ' + b"9" * 5000 + b"}",
    "a huge exponent": b'{"name": "a", "time": 1e99999}',
    "a wrong date": b'{"name": "a", "time": "2026-13-45T00:00:00Z"}',
    "a wrong sequence": b'{"name": "a", "time": 6, "seq": {}, "sequence": "x"}',
    "no UTF-8": b'{"name": "a\xff", "time": 6}',
    "half a character": b'{"name": "a", "time": 6, "key": "\\ud800"}',
    "too deep": b'{"name": "a", "time": 6, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "too long": b'{"name": "a", "time": 6, "x": "' + b"y" * 2**21 + b'"}',
    "a null byte": b'{"name": "a", \x00 "time": 6}',
}


class Crash(Exception):
    """The process dies."""


def line(time, name):
    return json.dumps({"time": time, "name": name}).encode()


def lost_in(tmp_path, content, name="events.jsonl"):
    path = tmp_path / name
    path.write_bytes(content)
    problems = []
    return list(read_events(str(path), tell=problems.append)), [(one.line, one.problem) for one in problems]


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_line_is_one_loss_with_its_place(tmp_path, broken):
    events, problems = lost_in(tmp_path, b"\n".join([line(1, "a"), line(2, "b"), broken, line(7, "x"), b""]))

    assert [event.name for event in events] == ["a", "b", "x"]
    assert [number for number, _ in problems] == [3]


@pytest.mark.parametrize("seed", range(30))
def test_any_bytes_between_good_lines_cost_nothing_but_themselves(tmp_path, seed):
    chance = random.Random(seed)
    junk = [bytes(chance.randrange(256) for _ in range(chance.randrange(60))).replace(b"\n", b"") for _ in range(20)]
    lines = [part for number, one in enumerate(junk) for part in (line(number, "a"), one)]
    events, problems = lost_in(tmp_path, b"\n".join([*lines, line(99, "b")]))

    assert [event.time_us for event in events] == [*(n * SECOND for n in range(20)), 99 * SECOND]
    assert len(problems) == sum(bool(one.decode("utf-8", "replace").strip()) for one in junk)


def monitored(tmp_path, capsys, lines, *options, name="events.jsonl"):
    (tmp_path / "rules.yaml").write_text(RULES)
    (tmp_path / name).write_bytes(b"\n".join(lines) + b"\n")
    code = main(["monitor", "run", "--rules", str(tmp_path / "rules.yaml"), str(tmp_path / name), *options])
    return code, capsys.readouterr()


def test_a_broken_line_costs_no_alarm_and_is_told(tmp_path, capsys):
    lines = [line(0, "x"), line(1, "x"), line(2, "a"), BROKEN["no JSON"], line(20, "c")]

    code, told = monitored(tmp_path, capsys, lines)

    assert code == 1
    assert "VIOLATED 1.000s too-many x" in told.out  # what is there stays a violation
    assert "UNKNOWN 7.000s missing b" in told.out  # the lost record may have been the answer
    assert "note: 1 records could not be read and count as lost\n" in told.out
    assert "events.jsonl:4: not valid JSON" in told.out


def test_a_loss_alone_makes_the_verdict_unknown(tmp_path, capsys):
    code, told = monitored(tmp_path, capsys, [line(0, "c"), *[b"oops"] * 9, line(1, "c")])

    assert (code, told.out.count("events.jsonl:")) == (3, 5)
    assert "note: 9 records could not be read" in told.out
    assert "and 4 more" in told.out
    assert "UNKNOWN: 0 alarms, 0 unknown, 2 events" in told.out


def test_strict_ends_at_the_first_broken_line_but_keeps_what_was_found(tmp_path, capsys):
    code, told = monitored(tmp_path, capsys, [line(0, "c"), b"oops"], "--strict")
    assert (code, "E103" in told.err, told.out) == (4, True, "")

    code, told = monitored(tmp_path, capsys, [line(0, "x"), line(1, "x"), b"oops"], "--strict")
    assert (code, "E103" in told.err, "too-many x" in told.out) == (1, True, True)


@pytest.mark.parametrize("lines", [[b"oops"] * 3, [b"oops"] * 500, [b'{"no": "event"}'] * 4, [b"<html>", b"</html>"]])
@pytest.mark.parametrize("name", ["events.jsonl", "events.log"])
def test_a_file_without_a_single_event_is_refused(tmp_path, capsys, lines, name):
    code, told = monitored(tmp_path, capsys, lines, name=name)

    assert (code, f"{name}:1" in told.err) == (4, True)


@pytest.mark.parametrize("name", ["events.jsonl", "events.log"])
def test_a_log_that_begins_in_the_middle_of_a_line_is_read(tmp_path, capsys, name):
    code, told = monitored(tmp_path, capsys, [b'": 1}', line(0, "x"), line(1, "x")], name=name)

    assert (code, "note: 1 records" in told.out) == (1, True)


def test_a_compressed_log_that_is_cut_off_ends_there(tmp_path):
    whole = gzip.compress(b"\n".join(line(number, f"a{number * 7919}") for number in range(3000)))
    events, problems = lost_in(tmp_path, whole[: len(whole) // 2], "events.jsonl.gz")

    assert 100 < len(events) < 3000
    assert [text for _, text in problems][-1] == "cannot be read: damaged or cut off"


@pytest.mark.parametrize(
    ("row", "problem"),
    [("7", "1 fields where the header has 2"), ("x,a", "time is no time"), ("6,", "an event without a name")],
)
def test_a_broken_row_of_a_table_is_one_loss(tmp_path, row, problem):
    events, problems = lost_in(tmp_path, f"time,name\n1,a\n{row}\n8,b\n".encode(), "events.csv")

    assert ([event.name for event in events], problems) == (["a", "b"], [(3, problem)])


def test_quotes_that_do_not_close_cost_what_they_swallow(tmp_path):
    events, problems = lost_in(tmp_path, b'time,name\n1,a\n2,"b"c\n3,d\n4,"e\n', "events.csv")

    assert ([event.name for event in events], [text for _, text in problems]) == (["a", "d"], ["not valid CSV"] * 2)


def test_a_table_without_times_is_refused_at_its_header(tmp_path):
    with pytest.raises(EventError, match="the first line names no column of times"):
        lost_in(tmp_path, b"when,what\n1,a\n", "events.csv")


POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "n", "resourceVersion": "1"}}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "broken", ['{"type": "ADDED", "obj', '{"type": }', "oops", '{"kind": "Pod", "metadata": 5}', "{" * 9]
)
def test_a_watch_stream_goes_on_after_a_broken_object(tmp_path, indent, broken):
    objects = [json.dumps({"type": "MODIFIED", "object": POD | {"spec": {"n": n}}}, indent=indent) for n in range(3)]
    path = tmp_path / "watch.log"
    path.write_text("\n".join([objects[0], broken, *objects[1:], ""]))
    problems = []

    assert len(list(read_events(str(path), "kube", tell=problems.append))) == 3
    assert problems


def test_losses_are_counted_once_however_often_the_monitor_dies(tmp_path):
    rules = RuleSet((Rule("few", AtMost(Pattern("x"), 1, None)), Rule("never", Never(Pattern("bad")))))
    items = [Event(n * SECOND, "x") if n % 3 else EventError("broken", file="f", line=n, remedy="") for n in range(60)]

    def source(after):
        def read(listener):
            for number, item in enumerate(items):
                if number == after:
                    raise Crash
                if isinstance(item, EventError):
                    listener.note_loss(item)
                else:
                    yield item

        return read

    wanted = Watch(rules, ("f",), state=str(tmp_path / "state.db"), batch=3)
    for after in (5, 17, 18, 40):
        with pytest.raises(Crash):
            watch(wanted, source(after))
    summary = watch(wanted, source(None))

    assert (summary.lost, summary.events, summary.verdict) == (20, 40, "UNKNOWN")


def test_a_count_that_a_loss_has_shifted_is_unknown_until_nobody_waits(tmp_path):
    rules = RuleSet((Rule("pair", FollowedBy(Pattern("a"), Pattern("b"), 10 * SECOND)),))

    def read(listener):
        yield Event(0, "a")
        listener.note_loss(EventError("broken", file="f", line=2, remedy=""))  # its answer
        for second in range(5, 60, 5):  # each answer serves the one before
            yield Event(second * SECOND, "a")
            yield Event((second + 1) * SECOND, "b")
        yield Event(90 * SECOND, "c")
        yield Event(200 * SECOND, "a")
        yield Event(300 * SECOND, "c")

    heard = []

    class Sink:
        def tell(self, alarms):
            heard.extend((alarm.start_us // SECOND, alarm.verdict) for _, alarm in alarms)
            return len(alarms)

    summary = watch(Watch(rules, (), sinks=(Sink(),)), read)

    assert heard == [(55, "UNKNOWN"), (200, "VIOLATED")]
    assert summary.exit_code == 1
