"""Operators are told of incidents: by an Alertmanager, over HTTP, and by what is shipped for their machines."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from kubeproof.cli.main import main
from kubeproof.errors import UsageError
from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.alertmanager import Alertmanager
from kubeproof.monitor.incidents.policy import Level
from kubeproof.monitor.metrics import Metrics
from kubeproof.monitor.rules.reader import read_rules
from kubeproof.monitor.serving import pages_of, serve
from kubeproof.monitor.sinks import RecentAlarms

SECOND = 1_000_000
DAY_S = 1_750_000_000  # a date
DEPLOY = Path(__file__).parents[3] / "deploy" / "monitor"


class Taker:
    """Keeps what is posted, or takes nothing."""

    def __init__(self, *, takes=True):
        self.takes, self.posted = takes, []

    def post(self, value, headers):
        self.posted.append(value)
        return self.takes


def alarm(incident, level, *, start_s=DAY_S, **rest):
    start_us = start_s * SECOND
    late_us = start_us + 5 * SECOND
    return Alarm(
        "r", Kind.MISSING, "answer", "it is late", start_us, late_us, late_us, incident=incident, level=level, **rest
    )


def told(*alarms, takes=True):
    taker = Taker(takes=takes)
    sink = Alertmanager("http://127.0.0.1:9093", "shop", 600 * SECOND, lambda: DAY_S + 60.0, taker)
    return sink.tell(list(enumerate(alarms, 1))), taker.posted


def test_an_incident_is_one_alert_that_ends_unless_it_is_told_again():
    taken, posted = told(alarm(3, Level.WARNING, run="r"), alarm(3, Level.WARNING, run="r"))

    assert taken == 2
    assert posted == [[
        {
            "labels": {
                "alertname": "KubeproofIncident", "severity": "warning", "rules": "shop", "incident": "3", "run": "r",
            },
            "annotations": {"summary": "missing answer", "description": "it is late [r]"},
            "startsAt": "2025-06-15T15:06:40+00:00",
            "endsAt": "2025-06-15T15:17:40+00:00",
        }
    ]]  # fmt: skip


def test_a_failure_ends_its_warning():
    _, (alerts,) = told(alarm(3, Level.WARNING), alarm(3, Level.FAILURE))

    assert [(one["labels"]["severity"], one["endsAt"]) for one in alerts] == [
        ("critical", "2025-06-15T15:17:40+00:00"),
        ("warning", "2025-06-15T15:07:40+00:00"),
    ]


def test_information_wakes_nobody():
    assert told(alarm(1, Level.INFORMATION)) == (1, [])


def test_what_nobody_takes_is_told_again():
    assert told(alarm(1, Level.FAILURE), takes=False)[0] == 0


def test_seconds_of_a_run_are_no_date():
    _, (alerts,) = told(alarm(1, Level.WARNING, start_s=5))

    assert "startsAt" not in alerts[0]


def test_labels_are_bounded():
    _, (alerts,) = told(alarm(1, Level.WARNING, key="k" * 5000))

    assert len(alerts[0]["labels"]["key"]) == 1024


@pytest.mark.parametrize("url", ["http://127.0.0.1:9093/api/v2/alerts", "ftp://x", "http://user@x"])
def test_an_address_that_cannot_be_posted_to_is_wrong_usage(url):
    with pytest.raises(UsageError, match="--alertmanager"):
        Alertmanager(url, "shop", SECOND, lambda: 0.0)


def test_health_and_incidents_are_served():
    metrics, recent = Metrics(), RecentAlarms(most=2)
    recent.tell([(number, alarm(number, Level.FAILURE)) for number in range(1, 4)])
    pages = pages_of(metrics, lambda: ",".join(str(number) for number, _ in recent.list_all()))
    with serve(pages, "127.0.0.1", 0) as port:

        def get(path):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as problem:
                with problem:
                    return problem.code, problem.read().decode()

        assert get("/healthz") == (200, "ok\n")
        assert get("/readyz")[0] == 503
        metrics.is_watching = True
        assert get("/readyz") == (200, "ready\n")
        assert get("/") == (200, "2,3")  # the last ones
        assert get("/else") == (404, "there are /, /healthz, /metrics, /readyz\n")


def test_events_before_a_moment_are_passed_over(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rules = "apiVersion: kubeproof.dev/v1alpha1\nkind: MonitorRules\nspec:\n  rules:\n  - never: {event: bad}\n"
    (tmp_path / "rules.yaml").write_text(rules)
    (tmp_path / "events.jsonl").write_text("".join(json.dumps({"time": t, "name": "bad"}) + "\n" for t in (1, 5, 9)))

    assert main(["monitor", "run", "--rules", "rules.yaml", "--since", "5", "events.jsonl"]) == 1
    assert "VIOLATED: 2 alarms, 0 unknown, 2 events" in capsys.readouterr().out
    assert main(["monitor", "run", "--rules", "rules.yaml", "--since", "soon", "events.jsonl"]) == 2
    assert "--since 'soon' is no time" in capsys.readouterr().err


def test_shipped_alert_rules_speak_of_figures_that_are_served():
    served = set(re.findall(r"^# TYPE (\S+)", Metrics().text(), re.MULTILINE))
    (group,) = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"]

    assert len(group["rules"]) == 5
    for rule in group["rules"]:
        names = set(re.findall(r"kubeproof_monitor_\w+", rule["expr"]))
        assert names <= served, rule["alert"]
        assert set(re.findall(r'level="(\w+)"', rule["expr"])) <= {level.value for level in Level}


def test_shipped_routes_hush_warnings_of_a_failure():
    settings = yaml.safe_load((DEPLOY / "alertmanager.yaml").read_text())
    _, (alerts,) = told(alarm(3, Level.FAILURE, run="r"))

    assert {"alertname", "severity", "rules", "run"} <= set(alerts[0]["labels"])
    (rule,) = settings["inhibit_rules"]
    assert rule["source_matchers"] == ["alertname = KubeproofIncident", "severity = critical"]
    assert rule["equal"] == settings["route"]["group_by"]


def test_shipped_manifests_run_a_command_that_exists():
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    rules = documents[0]["data"]["rules.yaml"]
    (container,) = documents[1]["spec"]["template"]["spec"]["containers"]

    assert read_rules(rules.encode(), "rules.yaml").incidents.failure_at == 2
    flags = [one.partition("=")[0] for one in container["args"] if one.startswith("--")]
    for text in (" ".join(flags), (DEPLOY / "kubeproof-monitor.service").read_text().partition("monitor run")[2]):
        known = {option for one in _run_command().params for option in one.opts}
        assert set(re.findall(r"--[a-z-]+", text.partition("\n")[0])) <= known


def _run_command():
    from kubeproof.cli.commands.monitor import run_command

    return run_command
