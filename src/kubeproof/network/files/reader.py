"""Reads a network file: YAML, JSON or XML, with the place of every mistake."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable

from kubeproof.errors import ManifestError
from kubeproof.manifests.folders.files import STDIN, read_inputs
from kubeproof.manifests.yaml.fields import Fields, Log, suggestion
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.tree import Mapping, Scalar, ScalarKind, Value
from kubeproof.network.files.rules import RuleReader
from kubeproof.network.files.xml_reader import looks_like_xml, read_xml
from kubeproof.network.model import Event, Network, Node, Rule, Snapshot, Traffic
from kubeproof.network.properties.named import Wanted, read_property
from kubeproof.network.properties.patterns import is_prefix, matches
from kubeproof.network.properties.processes import EVENTS
from kubeproof.values import dataclass

VERSION, KIND = "kubeproof.dev/v1alpha1", "Network"


@dataclass(frozen=True, slots=True)
class NetworkFile:
    """A network, and the properties that its file asks for."""

    network: Network
    properties: tuple[Wanted, ...]


def load_network(path: str, *, stdin: Callable[[], bytes] | None = None, bounds: Bounds = Bounds()) -> NetworkFile:
    """The network in a file, or on standard input for `-`."""
    if path != STDIN and os.path.isdir(path):
        raise ManifestError(
            "is a directory", file=printable(path), line=0, remedy="Name one network file; or use --from-manifests"
        )
    file = next(iter(read_inputs([path], stdin=stdin, bounds=bounds)))
    return read_network(file.content, file.shown, bounds=bounds)


def read_network(content: bytes, file: str, *, bounds: Bounds = Bounds()) -> NetworkFile:
    """The network that the content of a file describes."""
    budget = Budget(bounds)
    if looks_like_xml(content):
        budget.take_bytes(len(content), file=file)
        return _network(read_xml(content, file=file, budget=budget), file)
    documents = list(read_documents(content, file=file, budget=budget))
    root = documents[0] if len(documents) == 1 else None
    if not isinstance(root, Mapping):
        problem = "not a mapping" if root is not None else f"{len(documents)} documents, not one"
        raise ManifestError(problem, file=file, line=1, remedy=f"Write one object of kind {KIND}")
    return _network(root, file)


def _network(root: Mapping, file: str) -> NetworkFile:
    fields = Fields(root, "", Log(file, KIND))
    if fields.require_text("apiVersion") != VERSION:
        fields.fail("apiVersion", "is not one of a network", remedy=f"Write apiVersion: {VERSION}")
    if fields.require_text("kind") != KIND:
        fields.fail("kind", "is not that of a network", remedy=f"Write kind: {KIND}")
    metadata = fields.child("metadata")
    name = (metadata.text("name") if metadata else None) or "network"
    if metadata:
        metadata.finish_strictly("name")
    spec = fields.require_child("spec")
    fields.finish_strictly("apiVersion", "kind", "metadata", "spec")
    return _Reader(spec).file(name)


class _Reader:
    """Reads the specification; everything that names a node is checked against the nodes."""

    def __init__(self, spec: Fields) -> None:
        self._spec = spec
        self._nodes = tuple(self._node(item, place) for place, item in enumerate(spec.items("nodes")))
        self._addresses: dict[str, str] = {}
        for node in self._nodes:
            if node.name in self._addresses:
                spec.fail("nodes", f"names {printable(node.name)!r} twice", remedy="Name each node once")
            self._addresses[node.name] = node.address
        if not self._nodes:
            spec.fail("nodes", "is empty", remedy="Name at least one node")
        self._rules = RuleReader(self._addresses, spec.log)

    def file(self, name: str) -> NetworkFile:
        """All of the specification."""
        spec = self._spec
        links = frozenset(self._rules.read_link(spec, "links", item) for item in spec.items("links"))
        traffic = tuple(self._traffic(child) for child in spec.children("traffic"))
        snapshots = self._snapshots(links)
        network = Network(self._nodes, links, traffic, snapshots, name)
        wanted = tuple(read_property(child, network) for child in spec.children("properties"))
        spec.finish_strictly("nodes", "links", "traffic", "snapshots", "properties")
        return NetworkFile(network, wanted)

    def _node(self, item: Value, place: int) -> Node:
        if isinstance(item, Scalar) and item.kind is ScalarKind.STRING and item.text:
            return Node(self._name(item.text, item.line))
        if not isinstance(item, Mapping):
            self._spec.log.fail(
                f"spec.nodes[{place}] is no name", line=item.line, remedy="Write a name, quoted if need be"
            )
        fields = Fields(item, f"spec.nodes[{place}]", self._spec.log)
        node = Node(self._name(fields.require_text("name"), item.line), fields.text("address") or "")
        if node.address and not _is_address(node.address):
            fields.fail("address", f"is {printable(node.address)!r}", remedy="Write an IP address such as 10.0.0.1")
        fields.finish_strictly("name", "address")
        return node

    def _name(self, text: str, line: int) -> str:
        if any(character in text for character in "*?,' ") or is_prefix(text):
            self._spec.log.fail(
                f"the node name {printable(text)!r} looks like a pattern",
                line=line,
                remedy="Use letters, digits, - _ . /",
            )
        return text

    def _traffic(self, fields: Fields) -> Traffic:
        traffic = Traffic(
            sources=self._find_covered(fields, "sources"),
            destinations=self._find_covered(fields, "destinations"),
            protocol=fields.text("protocol") or "",
            group=fields.text("priorityGroup") or "",
            process=fields.text("process") or "",
            name=fields.text("name") or "",
            source=fields.source,
        )
        fields.finish_strictly("name", "sources", "destinations", "protocol", "priorityGroup", "process")
        return traffic

    def _find_covered(self, fields: Fields, key: str) -> tuple[str, ...]:
        """The nodes that a list of patterns covers, in the order of the nodes for each pattern."""
        found: dict[str, None] = {}
        for pattern in fields.texts(key):
            if pattern in self._addresses:
                found[pattern] = None
                continue
            names = [name for name, address in self._addresses.items() if matches(pattern, name, address)]
            if not names:
                fields.fail(key, f"has {printable(pattern)!r}, no node", remedy=suggestion(pattern, self._addresses))
            found.update(dict.fromkeys(names))
        if not found:
            fields.fail(key, "is required", remedy="Name nodes, or patterns such as dev*")
        return tuple(found)

    def _snapshots(self, links: frozenset[frozenset[str]]) -> tuple[Snapshot, ...]:
        found: list[Snapshot] = []
        for fields in self._spec.children("snapshots"):
            before = found[-1] if found else None
            found.append(self._snapshot(fields, links, before, f"t{len(found)}"))
        if not found:
            self._spec.fail("snapshots", "is empty", remedy="Give at least one snapshot")
        return tuple(found)

    def _snapshot(
        self, fields: Fields, links: frozenset[frozenset[str]], before: Snapshot | None, default: str
    ) -> Snapshot:
        tables: dict[str, tuple[Rule, ...]] = {}
        if fields.word("basedOn", ("nothing", "previous"), "nothing") == "previous":
            if before is None:
                fields.fail("basedOn", "is previous in the first snapshot", remedy="Give all tables there")
            tables.update(before.tables)
        child = fields.child("tables")
        for node in child.keys() if child is not None else ():
            assert child is not None
            self._rules.check_known(node, child.line_of(node))
            tables[node] = tuple(self._rules.read_rule(rule, node, links) for rule in child.children(node))
        down = frozenset(self._down(fields, item, links) for item in fields.items("down"))
        snapshot = Snapshot(
            name=fields.number("name") or default,
            tables=tables,
            down=down,
            events=tuple(self._event(event) for event in fields.children("events")),
        )
        fields.finish_strictly("name", "basedOn", "tables", "down", "events")
        return snapshot

    def _down(self, fields: Fields, item: Value, links: frozenset[frozenset[str]]) -> frozenset[str]:
        link = self._rules.read_link(fields, "down", item)
        if link not in links:
            fields.log.fail(f"{fields.path}.down: no such link", line=item.line, remedy="Add it to spec.links")
        return link

    def _event(self, fields: Fields) -> Event:
        process = fields.require_text("process")
        fields.require_text("event")
        event = Event(process, fields.word("event", EVENTS, ""), fields.text("resource") or "", fields.source)
        fields.finish_strictly("process", "event", "resource")
        return event


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
