"""What devices print is read line by line, and what is not understood is refused at its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.cluster.objects import Source
from kubeproof.errors import ManifestError, UsageError
from kubeproof.network.headers.model import EVERYTHING, prefix, show_box
from kubeproof.network.headers.texts import Line, lines_of, parse_headers, read_chains, read_routes

ROUTES = """\
default via 10.0.0.1 dev eth0 proto dhcp src 10.0.0.9 metric 100
# a remark
10.1.0.0/16 dev tun0 scope link onlink
local 10.0.0.9 dev eth0 table local
blackhole 10.9.0.0/16
"""
FILTER = """\
*filter
:INPUT DROP [0:0]
:FORWARD ACCEPT [0:0]
:own - [0:0]
[12:900] -A INPUT -i lo -j ACCEPT
-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A INPUT ! -s 10.0.0.0/8 -p tcp -m multiport --dports 80,443,444 -m comment --comment "two words" -j own
-A own -p udp --sport 53: -j REJECT --reject-with icmp-port-unreachable
-A own -j LOG --log-prefix "seen: "
COMMIT
"""


def line(text: str) -> list[Line]:
    return lines_of(text, "r.txt", 1)


def test_routes_are_read_with_their_lines() -> None:
    first, second, third = read_routes(line(ROUTES))

    assert (first.to, first.length, first.interface, first.via, first.metric) == (
        EVERYTHING[1],
        0,
        "eth0",
        (10 << 24) + 1,
        100,
    )
    assert (second.to, second.interface, second.via) == (prefix((10 << 24) + (1 << 16), 16), "tun0", None)
    assert (third.interface, third.source) == ("", Source("r.txt", 5))


def test_rules_are_read_into_boxes() -> None:
    chains = read_chains(line(FILTER))
    lo, jump = chains["filter/INPUT"].rules

    assert (chains["filter/INPUT"].policy, chains["filter/own"].policy) == ("drop", "return")
    assert (lo.comes_by, lo.verdict) == ("lo", "accept")
    assert [show_box(box) for box in jump.boxes] == [
        "src 0.0.0.0-9.255.255.255, tcp, dport 80",
        "src 0.0.0.0-9.255.255.255, tcp, dport 443-444",
        "src 11.0.0.0-255.255.255.255, tcp, dport 80",
        "src 11.0.0.0-255.255.255.255, tcp, dport 443-444",
    ]
    assert jump.chain == "filter/own"
    assert [show_box(box) for box in chains["filter/own"].rules[0].boxes] == ["udp, sport 53-65535"]
    assert len(chains["filter/own"].rules) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("10.0.0.0/33 dev eth0", "is no IPv4 prefix"),
        ("10.0.0.0/8", "without dev"),
        ("blackhole", "without a destination"),
        ("10.0.0.0/8 dev eth0 nexthop via 10.0.0.1", "'nexthop' is not understood"),
        ("10.0.0.0/8 dev eth0 metric x", "is no number"),
        ("10.0.0.0/8 dev", "'dev' is not understood"),
    ],
)
def test_a_route_that_is_not_understood_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=f"r.txt:1: .*{problem}"):
        read_routes(line(text))


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("-A INPUT -m limit --limit 1/s -j ACCEPT", "the module 'limit'"),
        ("-A INPUT -g own", "'-g' is not understood"),
        ("-A INPUT -j MARK --set-mark 1", "the target 'MARK'"),
        ("-A INPUT -j nowhere", "no chain 'nowhere'"),
        ("-A nowhere -j DROP", "no chain 'nowhere'"),
        ('-A INPUT --comment "x -j DROP', "a quote is not closed"),
        ("-A INPUT -p tcp --dport 70000 -j DROP", "is no number up to 65535"),
        ("-A INPUT -p tcp --dport 9:3 -j DROP", "ends before it begins"),
        ("-A INPUT ! -i eth0 -j DROP", "is excluded"),
        ("-A INPUT -s fe80::1 -j DROP", "is no IPv4 prefix"),
        ("-P INPUT DROP", "no rule"),
        ("*mangle\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -j DROP", "rules of mangle"),
        ("*nat\n:OUTPUT ACCEPT [0:0]\n-A OUTPUT -j RETURN", "rules of nat, chain OUTPUT"),
        (
            "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -j DNAT --to-destination 10.0.0.1-10.0.0.9",
            "is no IPv4 address",
        ),
        (":x QUEUE", "is no policy"),
        ("*nat\n:PREROUTING DROP [0:0]", "nat does not drop"),
        ("*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -j DROP", "nat does not drop"),
        ("-A INPUT -m multiport --dports " + ",".join(map(str, range(1, 3000, 2))) + " -j DROP", "too many ports"),
    ],
)
def test_a_rule_that_is_not_understood_is_refused(rule: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        read_chains(line(f"*filter\n:INPUT DROP [0:0]\n{rule}"))


def test_sets_of_headers_are_written_as_they_are_shown() -> None:
    text = "src 10.0.0.0/8, dst 10.1.0.7, tcp, sport 1024-65535, dport 80"

    assert show_box(parse_headers(text)) == text
    assert parse_headers("") == EVERYTHING
    for wrong in ("tcp 6", "dst web", "dport 90-80", "port 80"):
        with pytest.raises(UsageError):
            parse_headers(wrong)


DEVICES = """\
apiVersion: kubeproof.dev/v1alpha1
kind: Devices
spec:
  devices:
  - name: a
    interfaces: {eth0: 10.0.0.1/24}
    routesFrom: a.routes
  - name: b
    interfaces: {eth0: 10.0.0.2/24, eth1: 10.1.0.1/24}
    routes: |
      default via 10.0.0.1 dev eth0
"""


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    (tmp_path / "a.routes").write_text("default via 10.0.0.2 dev eth0\n", encoding="utf-8")
    file = tmp_path / "devices.yaml"
    file.write_text(DEVICES, encoding="utf-8")
    return file


def test_loops_are_told_and_files_beside_are_read(devices: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["network", "packets", str(devices), "--from", "a", "--match", "src 10.0.0.1, dst 192.0.2.1"]

    assert main([*asked, "-o", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["classes"]
    assert (one["ending"], one["path"][0]["location"]["file"]) == ("loop", str(devices.parent / "a.routes"))
    assert main([*asked, "--must-reach", "b"]) == 1
    assert "packets go round for ever" in capsys.readouterr().out
    assert main([*asked, "--can-reach", "b"]) == 1
    assert main([*asked, "--cannot-reach", "b"]) == 0


def test_a_limit_leaves_answers_open(devices: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["network", "packets", str(devices), "--from", "a", "--max-classes", "1", "--can-reach", "b"]) == 3
    assert "more than 1 classes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (("kind: Devices", "kind: Network"), 4, "is not that of devices"),
        (("name: b", "name: a"), 4, "names 'a' twice"),
        (("10.0.0.1/24", "10.0.0.1/40"), 4, "Write an address with its prefix"),
        (("dev eth0", "dev eth7"), 4, "no interface 'eth7' of b"),
        (("a.routes", "../a.routes"), 4, "leads out of the folder"),
        (("a.routes", "missing"), 4, "missing"),
        (("routesFrom", "routes: x\n    routesFrom"), 4, "are both given"),
        (("name: a", "nam: a"), 4, "name"),
    ],
)
def test_devices_that_cannot_be_read_are_refused(
    devices: Path, change: tuple[str, str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    devices.write_text(DEVICES.replace(*change), encoding="utf-8")

    assert main(["network", "packets", str(devices), "--from", "a"]) == code
    assert message in capsys.readouterr().err


def test_a_device_that_does_not_exist_is_wrong_usage(devices: Path) -> None:
    assert main(["network", "packets", str(devices), "--from", "c"]) == 2
    assert main(["network", "packets", str(devices.parent), "--from", "a"]) == 4
    assert main(["network", "packets", str(devices), "--from", "a", "--can-reach", "c"]) == 2
