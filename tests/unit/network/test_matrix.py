"""`network matrix`: all pairs, what changed, and that loops are told whatever is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cli.main import main

SHOP = Path(__file__).parents[3] / "examples" / "10-network-policies"
DB = "StatefulSet/shop/db"


def test_text_and_json_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["network", "matrix", str(SHOP)]) == 0
    text = capsys.readouterr().out
    assert main(["network", "matrix", str(SHOP), "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    cells = {(cell["source"], cell["target"]): cell for cell in document["pairs"]}

    assert "4 StatefulSet/shop/db               # . #   #" in text
    assert len(cells) == 20
    assert cells["Deployment/shop/proxy", DB]["ports"] == "TCP 5432"
    assert cells["Deployment/shop/web", DB]["mark"] == "."
    assert cells["Deployment/shop/proxy", DB]["location"]["line"] == 69


def test_what_changed_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "shop.yaml"
    old.write_text(
        (SHOP / "shop.yaml").read_text(encoding="utf-8").replace("port: 5432", "port: 5433"), encoding="utf-8"
    )

    assert main(["network", "matrix", str(SHOP), "--base", str(old)]) == 0
    out = capsys.readouterr().out
    assert "1 pair changed" in out
    assert f"Deployment/shop/proxy -> {DB}: no port; now TCP 5432" in out
    assert main(["network", "matrix", str(SHOP), "--base", str(SHOP), "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["changes"] == []


def test_a_namespace_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["network", "matrix", str(SHOP), "--namespace", "shop", "--base", str(SHOP)]) == 0
    out = capsys.readouterr().out

    assert "4 parties, 12 pairs" in out
    assert "0 pairs changed" in out
    assert main(["network", "matrix", str(SHOP), "--namespace", "none"]) == 2


LOOP = """\
apiVersion: kubeproof.dev/v1alpha1
kind: Network
spec:
  nodes: [a, b, c]
  links: [[a, b], [b, c]]
  traffic:
  - {sources: [a], destinations: [c]}
  snapshots:
  - {name: one, tables: {a: [{forward: b}], b: [{forward: a}]}}
  - {name: two, basedOn: previous}
  - {name: three, tables: {a: [{forward: b}], b: [{forward: c}]}}
  properties:
  - avoid: {nodes: [c]}
"""


def test_loops_are_told_though_no_property_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "loop.yaml"
    file.write_text(LOOP, encoding="utf-8")

    assert main(["network", "verify", str(file), "-o", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    (loop,) = document["loops"]  # the second snapshot is like the first
    assert (loop["snapshot"]["name"], loop["ending"], loop["classes"]) == ("one", "loop", 1)
    assert main(["network", "verify", str(file)]) == 1
    assert "LOOP, of which no property tells: 1 pair" in capsys.readouterr().out
