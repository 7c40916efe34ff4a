"""Real oslo.messaging over a real RabbitMQ: what services send is traced, and what they fail to send alarms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from tests.brokers.servers import HOST, Broker

pytest.importorskip("oslo_messaging", reason="oslo.messaging is not installed")
ROOT = Path(__file__).parents[2]
EVERYTHING = """apiVersion: kubeproof.dev/v1alpha1
kind: MonitorRules
spec:
  rules:
  - {name: seen, ltl: {formula: 'G !p', where: {p: name exists}}}
"""
RULES = """apiVersion: kubeproof.dev/v1alpha1
kind: MonitorRules
spec:
  rules:
  - {name: connected, chain: {events: [compute_reserve, compute_attach, volume_connect], within: 10s}}
  - {name: told, followedBy: {first: compute_attach, then: cells_update, within: 10s}}
"""


def traced(broker: Broker, queue: str, fault: str = "") -> None:
    """Runs the services until they have done their work."""
    script = Path(__file__).with_name("oslo_services.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(script), str(broker.port), queue, *([fault] if fault else [])]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ended.stdout.split() == ["0", "0"], ended.stderr


def judged(broker: Broker, queue: str, rules: str, folder: Path) -> list[dict[str, str]]:
    (folder / "rules.yaml").write_text(rules)
    arguments = ["--rules", str(folder / "rules.yaml"), "-o", f"ndjson={folder / 'alarms.ndjson'}"]
    address = f"amqp://{HOST}:{broker.port}/{queue}"
    code = main(["monitor", "run", *arguments, "--until-idle", "100ms", "--closed-end", address])
    found = [json.loads(line) for line in (folder / "alarms.ndjson").read_text().splitlines()]
    assert code == (1 if found else 0)
    return found


def test_calls_casts_and_fanouts_are_events_in_the_order_of_sending(broker: Broker, tmp_path: Path) -> None:
    traced(broker, "trace")

    names = [alarm["about"] for alarm in judged(broker, "trace", EVERYTHING, tmp_path)]

    one = ["compute_reserve", "compute_reserve reply", "compute_attach"]
    other = ["volume_connect", "volume_connect reply", "cells_update"]
    assert names == (one + other) * 3


@pytest.mark.parametrize(("fault", "about"), [("", []), ("connect", ["volume_connect"]), ("update", ["cells_update"])])
def test_a_missing_message_alarms_once(broker: Broker, tmp_path: Path, fault: str, about: list[str]) -> None:
    traced(broker, f"fault-{fault}", fault)

    found = judged(broker, f"fault-{fault}", RULES, tmp_path)

    assert [(alarm["about"], alarm["kind"], alarm["verdict"]) for alarm in found] == [
        (name, "missing", "VIOLATED") for name in about
    ]
