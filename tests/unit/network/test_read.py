"""Network files: three formats, one meaning, and the place of every mistake."""

from __future__ import annotations

import pytest

from kubeproof.errors import HostileInputError, KubeproofError, ManifestError
from kubeproof.network.files.generate import fat_tree, home, with_fault
from kubeproof.network.files.reader import read_network
from kubeproof.network.files.writer import to_json, to_xml, to_yaml
from kubeproof.network.model import Event, Match, Network, Node, Rule, Snapshot, Traffic
from kubeproof.network.properties.named import own_properties, parse_property

EVERYTHING = Network(
    nodes=(Node("a", "10.0.0.1"), Node("b"), Node("true"), Node("n-1.x/y")),
    links=frozenset({frozenset(("a", "b")), frozenset(("a", "true")), frozenset(("b", "n-1.x/y"))}),
    traffic=(Traffic(("a",), ("b", "true"), "tcp", "gold", "p", "web"),),
    snapshots=(
        Snapshot(
            "first",
            {"a": (Rule(Match("a", "10.0.0.0/8", "b", "tcp", "gold"), ("b", "true"), 3, 0, "q"), Rule())},
            frozenset({frozenset(("a", "b"))}),
            (Event("p", "grant", "r"), Event("q", "begin")),
        ),
        Snapshot("second", {"a": (), "b": (Rule(Match(), ("n-1.x/y",)),)}),
        Snapshot("third", {"b": (Rule(Match(), ("n-1.x/y",)),)}),
    ),
    name='odd "name"',
)


@pytest.mark.parametrize("write", [to_yaml, to_json, to_xml])
@pytest.mark.parametrize(
    "network",
    [EVERYTHING, home(), fat_tree(4), with_fault(home(), "link-down", "router", first=1, last=1, to="ap")],
    ids=lambda network: network.name,
)
def test_what_is_written_is_read_back(write, network: Network) -> None:
    read = read_network(write(network).encode(), "net")

    assert read.network == network


def test_properties_are_written_and_read_in_every_format() -> None:
    wanted = ({"waypoint": {"through": ["ap"], "destination": "gateway"}},)

    names = [
        [one.name for one in read_network(write(home(), wanted).encode(), "net").properties]
        for write in (to_yaml, to_json, to_xml)
    ]

    assert names == [["waypoint through ap to gateway"]] * 3


HEAD = """\
apiVersion: kubeproof.dev/v1alpha1
kind: Network
spec:
  nodes: [a, b, {name: c, address: 10.0.0.1}]
  links:
  - [a, b]
"""
TAIL = """\
  traffic:
  - {sources: [a], destinations: [b]}
  snapshots:
  - tables:
      a:
      - {forward: b}
"""


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("kind: Network\n", 1, "apiVersion is required"),
        (HEAD, 4, "spec.snapshots is empty"),
        (HEAD + "  - [a, z]\n" + TAIL, 7, "no node 'z'"),
        (HEAD + "  - [a, a]\n" + TAIL, 7, "no link"),
        (HEAD + TAIL + "      - {forward: c}\n", 13, "which a has no link to"),
        (HEAD + TAIL + "      - {drop: true, forward: b}\n", 13, "2 actions"),
        (HEAD + TAIL + "      - {drop: true, match: {destination: zz}}\n", 13, "no node 'zz'"),
        (
            HEAD + TAIL + "      - {drop: true, match: {dst: b}}\n",
            13,
            "unknown field spec.snapshots[0].tables.a[1].match.dst",
        ),
        (HEAD + TAIL + "      - {drop: true, priority: high}\n", 13, "priority is a string"),
        (HEAD + TAIL + "      z: []\n", 13, "no node 'z'"),
        (HEAD + TAIL + "    down: [[a, c]]\n", 13, "no such link"),
        (HEAD + TAIL + "    events: [{process: p, event: beginn}]\n", 13, "event is 'beginn'"),
        (HEAD + TAIL + "  properties:\n  - waypont: {}\n", 14, "spec.properties[0].waypont is no property"),
        (HEAD + TAIL + "  properties:\n  - avoid: {nodes: [zz]}\n", 14, "no node 'zz'"),
        (HEAD + TAIL + "  properties:\n  - ltl: {formula: 'F (there'}\n", 14, "column 9"),
        (HEAD + TAIL + "  properties:\n  - ltl: {formula: G lost, where: {lots: DROPPED}}\n", 14, "Did you mean lost"),
        (HEAD + TAIL + "  extra: 1\n", 13, "unknown field spec.extra"),
        (HEAD.replace("10.0.0.1", "10.0.0.999") + TAIL, 4, "address is '10.0.0.999'"),
        (HEAD.replace("[a, b,", "[a, a,") + TAIL, 4, "names 'a' twice"),
        (HEAD.replace("[a, b,", "[a, 'b*',") + TAIL, 4, "looks like a pattern"),
        (HEAD + TAIL.replace("[a]", "[x*]"), 8, "has 'x*', no node"),
        ("<network>\n<node name='a'/>\n<nod/></network>", 3, "<nod> inside <network>"),
        ("<network>\n<node nam='a'/></network>", 2, "<node> has the attribute nam"),
        ("<network>\n<node name='a'/>hello</network>", 2, "text 'hello'"),
        ("<network>\n<node name='a'></network>", 2, "not valid XML: mismatched tag"),
        ("<network><node name='a'/>\n<link from='a'/></network>", 2, "<link> lacks to"),
        ("<network><node name='a'/><snapshot>\n<table/></snapshot></network>", 2, "<table> lacks node"),
        (
            "<network><node name='a'/><snapshot><table node='a'>\n"
            "<rule priority='x'><drop/></rule></table></snapshot></network>",
            2,
            "priority is a string",
        ),
        ("[]", 1, "not a mapping"),
        ("a: 1\n---\nb: 2\n", 1, "2 documents, not one"),
    ],
)
def test_a_mistake_is_reported_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read_network(text.encode(), "net.yaml")

    assert (caught.value.file, caught.value.line) == ("net.yaml", line)
    assert problem in str(caught.value)
    assert caught.value.exit_code in (2, 4)


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE network [<!ENTITY a "b">]><network/>',
        '<?xml version="1.0"?><!DOCTYPE network SYSTEM "file:///etc/passwd"><network/>',
        "<network name='" + "x" * 2_000_000 + "'/>",
        "<network name='\x01'/>",
    ],
    ids=["entity", "external", "long", "control"],
)
def test_hostile_xml_is_refused(text: str) -> None:
    with pytest.raises(HostileInputError):
        read_network(text.encode(), "net.xml")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("waypoint:through=ap,router;destination=gateway", "waypoint through ap, router to gateway"),
        ("boundedHops:most=6", "at most 6 hops"),
        ("loadBalance:tolerance=0.25;over=ap", "load balance within 0.25 over ap"),
        ("noDrop", "no drop"),
    ],
)
def test_a_property_can_be_given_on_the_command_line(text: str, name: str) -> None:
    assert parse_property(text, home()).name == name


@pytest.mark.parametrize(
    "text", ["waypoint", "waypoint:through", "nothing", "avoid:nodes=ap;more=1", "boundedHops:most=x"]
)
def test_a_wrong_property_is_wrong_usage(text: str) -> None:
    with pytest.raises(KubeproofError) as caught:
        parse_property(text, home())

    assert caught.value.exit_code == 2


OWN = """
from kubeproof.network.properties.automata import Letter, path_automaton
no_detour = path_automaton(
    letters=[Letter("far", lambda at: at.hop_count > 5, reads=["HOP_COUNT"], most_hops=6), Letter("near")],
    transitions=[("a", "near", "a")], initial=["a"], accepting=["a"],
)
"""


def test_automata_come_from_a_python_file(tmp_path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN)

    assert [one.name for one in own_properties(str(file))] == ["no_detour"]
    assert [one.name for one in own_properties(f"{file}:no_detour")] == ["no_detour"]


@pytest.mark.parametrize(
    ("text", "suffix", "problem"),
    [(OWN, ":other", "has no property 'other'"), ("1 / 0", "", "ZeroDivisionError"), ("x = 1", "", "has no property")],
)
def test_an_unusable_python_file_is_wrong_usage(tmp_path, text: str, suffix: str, problem: str) -> None:
    file = tmp_path / "own.py"
    file.write_text(text)

    with pytest.raises(KubeproofError, match=problem):
        own_properties(f"{file}{suffix}")
