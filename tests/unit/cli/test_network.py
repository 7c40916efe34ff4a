"""`kubeproof network`: output, exit codes, and that text and JSON say the same."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from kubeproof.cli.main import main


@pytest.fixture
def home(tmp_path: Path) -> str:
    file = tmp_path / "home.yaml"
    assert main(["network", "generate", "home", "-o", f"yaml={file}"]) == 0
    return str(file)


def generated(tmp_path: Path, *arguments: str) -> str:
    file = tmp_path / "net.json"
    assert main(["network", "generate", *arguments, "-o", f"json={file}"]) == 0
    return str(file)


def test_a_network_that_holds_ends_with_0(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["network", "verify", home]) == 0
    assert capsys.readouterr().out == (
        "HOLDS-BOUNDED waypoint through ap to gateway\n"
        "  the safety part holds; the liveness part is verified (3 packet classes, 4 snapshot(s), 40 product states)\n"
        "\n"
        "HOLDS-BOUNDED: 1 property checked on home (1 HOLDS-BOUNDED)\n"
    )


def test_a_violation_ends_with_1_and_shows_path_and_rule_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = generated(tmp_path, "home", "--fault", "bypass:router>gateway@2-3")

    assert main(["network", "verify", file]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:8] == [
        "  safety: snapshot t1, dev1 to internet",
        f"        dev1     forwards to router  ({file}:23)",
        f"        router   forwards to gateway  ({file}:48)",
        "        gateway",
        "        violated here, read as D",
        "  in the same snapshot also: dev2 to internet, dev3 to internet",
    ]


def test_lost_packets_end_with_3_and_with_final_with_1(tmp_path: Path) -> None:
    file = generated(tmp_path, "home", "--fault", "blackhole:router")

    assert main(["network", "verify", file]) == 3
    assert main(["network", "verify", file, "--final"]) == 1


def test_json_says_the_same_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = generated(tmp_path, "fattree", "--k", "4", "--fault", "bypass:agg-0-0>core-0-1@3")

    assert main(["network", "verify", file, "-o", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    (result,) = document["results"]
    (example,) = result["counterexamples"]
    assert (document["verdict"], result["safety"], result["liveness"], result["since"]) == (
        "VIOLATED", False, "verified", 3,
    )  # fmt: skip
    assert [hop["node"] for hop in example["path"]] == [
        "host-0-0-0", "edge-0-0", "agg-0-0", "core-0-1", "agg-2-0", "edge-2-0", "host-2-0-0",
    ]  # fmt: skip
    assert example["traffic"]["source"] == "host-0-0-0"
    assert example["snapshot"] == {"number": 2, "name": "t2"}
    assert example["path"][2]["location"]["file"] == file
    assert (example["classes"], len(example["also"])) == (16, 15)


def test_properties_formulas_and_automata_can_be_added(home: str, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "from kubeproof.network.properties.automata import Letter, path_automaton\n"
        "short = path_automaton(letters=[Letter('far', lambda at: at.hop_count > 3, ['HOP_COUNT'], 4),\n"
        "    Letter('near')], transitions=[('a', 'near', 'a')], initial=['a'], accepting=['a'])\n"
    )

    assert main(["network", "verify", home, "-p", "boundedHops:most=5"]) == 0
    assert main(["network", "verify", home, "-p", "boundedHops:most=4"]) == 1
    assert main(["network", "verify", home, "--ltl", 'F "CURRENT_NODE == internet"']) == 0
    assert main(["network", "verify", home, "--ltl", "G !out", "--where", "out=DELIVERED"]) == 1
    assert main(["network", "verify", home, "--automaton", str(own)]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--ltl", "G (p"], 2, "column 5"),
        (["--ltl", 'G "CURRENT_NODE == nowhere"'], 2, "no node 'nowhere'"),
        (["--where", "nothing"], 2, "not NAME=PREDICATE"),
        (["--ltl", "G lost", "--where", "lost=DROPPED", "--where", "lots=DROPPED"], 2, "Did you mean lost?"),
        (["--ltl", "G lost", "--where", "lost=DROPPED", "--where", "lost=DELIVERED"], 2, "gives 'lost' twice"),
        (["--ltl", "(" * 5000 + "p"], 2, "nested too deeply"),
        (["-p", "waypiont"], 2, "Did you mean waypoint?"),
        (["--automaton", "missing.py"], 2, "no file 'missing.py'"),
    ],
)
def test_wrong_usage_ends_with_2(
    home: str, arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["network", "verify", home, *arguments]) == code
    assert message in capsys.readouterr().err


def test_an_automaton_file_that_exits_does_not_end_the_command_as_if_all_were_well(home: str, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("raise SystemExit(0)\n")

    assert main(["network", "verify", home, "--automaton", str(own)]) == 2


def test_an_unreadable_file_ends_with_4_and_no_property_with_5(tmp_path: Path, home: str) -> None:
    bare = tmp_path / "bare.yaml"
    bare.write_text(Path(home).read_text().split("  properties:")[0])

    assert main(["network", "verify", str(tmp_path / "missing.yaml")]) == 4
    assert main(["network", "verify", str(tmp_path)]) == 4
    assert main(["network", "verify", str(bare)]) == 5


def test_a_network_is_read_from_stdin(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(home).read_bytes())))

    assert main(["network", "verify", "-"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fattree", "--k", "5"], "even number"),
        (["home", "--fault", "nonsense"], "not KIND:NODE"),
        (["home", "--fault", "melt:router"], "no fault 'melt'"),
        (["home", "--fault", "bypass:router>internet"], "router has no link to 'internet'"),
        (["home", "--fault", "blackhole:router@3-9"], "snapshots 1 to 4"),
        (["home", "--fault", "blackhole:nobody"], "no node 'nobody'"),
    ],
)
def test_wrong_wishes_for_a_network_end_with_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["network", "generate", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_library_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["network", "properties", "-o", "json"]) == 0
    keys = [entry["key"] for entry in json.loads(capsys.readouterr().out)["properties"]]
    assert keys[:6] == [
        "waypoint", "resilience", "loadBalance", "isolatedUpdates", "resourceAllocation", "trafficIsolation",
    ]  # fmt: skip
    assert main(["network", "properties"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == keys


SHOP = str(Path(__file__).parents[3] / "examples" / "10-network-policies")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--cannot-reach", "shop/app=web -> shop/app=db"], 0),
        (["--can-reach", "shop/app=web -> shop/app=db"], 1),
        (["--must-pass", "shop/app=web -> shop/app=db via shop/app=proxy"], 1),
        (["--must-pass", "shop/app=web -> shop/app=db via shop/app=proxy", "--relays", "none"], 0),
        (["--can-reach", "nonsense"], 2),
        (["--can-reach", "shop/app=web -> shop/app=db", "--final"], 2),
        ([], 5),
    ],
)
def test_questions_about_manifests_end_with_their_code(arguments: list[str], code: int) -> None:
    assert main(["network", "verify", "--from-manifests", SHOP, *arguments]) == code


def test_questions_need_manifests(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["network", "verify", home, "--can-reach", "a -> b"]) == 2
    assert "--can-reach needs --from-manifests" in capsys.readouterr().err
    assert main(["network", "verify", home, home]) == 2


def test_json_about_manifests_has_ways_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--can-reach", "shop/app=proxy -> Service/shop/db:5432", "--can-reach", "shop/app=web -> shop/app=db:5432"]

    assert main(["network", "verify", "--from-manifests", SHOP, *asked, "-o", "json"]) == 1
    good, bad = json.loads(capsys.readouterr().out)["results"]
    assert [hop["node"] for hop in good["counterexamples"][0]["path"]] == [
        "Deployment/shop/proxy", "Service/shop/db", "StatefulSet/shop/db",
    ]  # fmt: skip
    assert good["counterexamples"][0]["part"] == "witness"
    assert bad["reasons"][0].startswith("Deployment/shop/web to StatefulSet/shop/db needs TCP 5432")


EVENTS = """\
apiVersion: kubeproof.dev/v1alpha1
kind: Network
spec:
  nodes: [a]
  snapshots:
  - events: [{process: u1, event: request}, {process: u2, event: request}]
  - events: [{process: u1, event: begin}]
  - events: [{process: u2, event: begin}]
  properties:
  - isolatedUpdates:
"""


def test_events_of_processes_are_shown_with_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "events.yaml"
    file.write_text(EVENTS)

    assert main(["network", "verify", str(file)]) == 1
    assert capsys.readouterr().out.splitlines()[:6] == [
        "VIOLATED isolated updates",
        "  the safety part is violated; the liveness part is not verified up to the last snapshot (2 processes)",
        "  safety: u1",
        f"    t0  u1 request (read as req)  {file}:6",
        f"    t1  u1 begin (read as begin)  {file}:7",
        f"    t2  u2 begin (read as begin_other)  {file}:8",
    ]
