"""Networks in XML, read into the same tree as YAML, so that one reader checks both.

    <network name="home">
      <node name="router" address="10.0.0.1"/>
      <link from="dev1" to="router"/>
      <traffic sources="dev*" destinations="internet" protocol="tcp" priorityGroup="background" process="tv"/>
      <snapshot name="t0" basedOn="nothing">
        <table node="router">
          <rule priority="10" metric="1" queue="gold">
            <match source="*" destination="internet" inPort="dev*" protocol="tcp" priorityGroup="background"/>
            <forward to="ap"/>           or <multipath to="ap ap2"/>, or <drop/>
          </rule>
        </table>
        <down from="a" to="b"/>
        <event process="u1" event="begin" resource=""/>
      </snapshot>
      <property name="waypoint" through="ap" destination="gateway"/>
    </network>

Lists are separated by spaces. A document type declaration, and with it every entity of one's own, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import NoReturn
from xml.parsers import expat

from kubeproof.errors import HostileInputError, ManifestError
from kubeproof.manifests.yaml.guard import Budget, check_scalar, decode
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Entry, Mapping, Scalar, Sequence, Value
from kubeproof.values import dataclass

_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "network": ("name",),
    "node": ("name", "address"),
    "link": ("from", "to"),
    "traffic": ("name", "sources", "destinations", "protocol", "priorityGroup", "process"),
    "snapshot": ("name", "basedOn"),
    "table": ("node",),
    "rule": ("priority", "metric", "queue"),
    "match": ("source", "destination", "inPort", "protocol", "priorityGroup"),
    "forward": ("to",),
    "multipath": ("to",),
    "drop": (),
    "down": ("from", "to"),
    "event": ("process", "event", "resource"),
}
_PARENTS = {
    "network": "", "node": "network", "link": "network", "traffic": "network", "snapshot": "network",
    "property": "network", "table": "snapshot", "down": "snapshot", "event": "snapshot", "rule": "table",
    "match": "rule", "forward": "rule", "multipath": "rule", "drop": "rule",
}  # fmt: skip
_LISTS = ("sources", "destinations", "through", "over", "nodes")
_NUMBERS = ("priority", "metric", "most", "tolerance")


def looks_like_xml(content: bytes) -> bool:
    """True if the first visible character opens a tag."""
    return content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"


@dataclass(slots=True)
class _Element:
    name: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list[_Element] = field(default_factory=list)


def read_xml(content: bytes, *, file: str, budget: Budget) -> Mapping:
    """The tree of a network in XML; raises ManifestError at the first flaw."""
    return _Builder(_Parser(content, file, budget).root, file).tree()


class _Parser:
    """Builds elements from parser events; nothing outside the document is ever read."""

    def __init__(self, content: bytes, file: str, budget: Budget) -> None:
        self._file = file
        self._budget = budget
        self._open: list[_Element] = []
        self._found: list[_Element] = []
        self._parser = expat.ParserCreate()
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        text = decode(content, file=file)
        try:
            self._parser.Parse(text.encode(), True)
        except expat.ExpatError as problem:
            words = expat.ErrorString(problem.code)
            raise ManifestError(
                f"not valid XML: {printable(words)}", file=file, line=problem.lineno, remedy="Correct the syntax there"
            ) from None
        self.root = self._found[0]

    def _refuse(self, *_: object) -> NoReturn:
        raise HostileInputError(
            "a document type declaration",
            file=self._file,
            line=self._parser.CurrentLineNumber,
            remedy="Remove it: networks need neither a type nor entities",
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        self._budget.take_nodes(1 + 2 * len(attributes), file=self._file, line=line)
        for key, value in attributes.items():
            check_scalar(value, plain=key in _NUMBERS, bounds=self._budget.bounds, file=self._file, line=line)
        parent = self._open[-1].name if self._open else ""
        if _PARENTS.get(name) != parent:
            self._fail(f"<{printable(name)}> {f'inside <{parent}>' if parent else 'as the root'}")
        known = _ATTRIBUTES.get(name, tuple(attributes))  # a property has the fields of its own entry
        for key in attributes:
            if key not in known:
                self._fail(f"<{name}> has the attribute {printable(key)}")
        element = _Element(name, attributes, line, self._parser.CurrentColumnNumber + 1)
        (self._open[-1].children if self._open else self._found).append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        if text.strip():
            self._fail(f"text {printable(text.strip())!r} between the elements")

    def _fail(self, problem: str) -> NoReturn:
        raise ManifestError(
            problem,
            file=self._file,
            line=self._parser.CurrentLineNumber,
            remedy="See docs/reference/network.md for the elements and attributes",
        )


class _Builder:
    """From elements to the tree that a YAML file would give."""

    def __init__(self, root: _Element, file: str) -> None:
        self._root = root
        self._file = file

    def tree(self) -> Mapping:
        root = self._root
        parts: dict[str, list[Value]] = {
            "nodes": [self._plain(e) for e in root.children if e.name == "node"],
            "links": [self._link(e) for e in root.children if e.name == "link"],
            "traffic": [self._plain(e) for e in root.children if e.name == "traffic"],
            "snapshots": [self._snapshot(e) for e in root.children if e.name == "snapshot"],
            "properties": [self._property(e) for e in root.children if e.name == "property"],
        }
        spec = self._mapping(root, {key: self._sequence(root, values) for key, values in parts.items() if values})
        name = root.attributes.get("name")
        metadata: dict[str, Value] = {"name": self._scalar(root, name)} if name else {}
        return self._mapping(
            root,
            {
                "apiVersion": self._scalar(root, "kubeproof.dev/v1alpha1"),
                "kind": self._scalar(root, "Network"),
                "metadata": self._mapping(root, metadata),
                "spec": spec,
            },
        )

    def _plain(self, element: _Element) -> Mapping:
        return self._mapping(element, {key: self._value(element, key) for key in element.attributes})

    def _value(self, element: _Element, key: str) -> Value:
        text = element.attributes[key]
        if key in _LISTS:
            return self._sequence(element, [self._scalar(element, word) for word in text.split()])
        return Scalar(text, key in _NUMBERS, element.line, element.column)

    def _link(self, element: _Element) -> Sequence:
        for key in ("from", "to"):
            if not element.attributes.get(key):
                self._fail(element, f"<{element.name}> lacks {key}")
        return self._sequence(element, [self._scalar(element, element.attributes[key]) for key in ("from", "to")])

    def _snapshot(self, element: _Element) -> Mapping:
        tables: dict[str, Value] = {}
        for child in element.children:
            if child.name == "table":
                node = child.attributes.get("node", "")
                if not node or node in tables:
                    self._fail(child, f"a second table of {printable(node)}" if node else "<table> lacks node")
                tables[node] = self._sequence(child, [self._rule(rule) for rule in child.children])
        found: dict[str, Value] = {key: self._value(element, key) for key in element.attributes}
        found["tables"] = self._mapping(element, tables)
        found["down"] = self._sequence(element, [self._link(c) for c in element.children if c.name == "down"])
        found["events"] = self._sequence(element, [self._plain(c) for c in element.children if c.name == "event"])
        return self._mapping(element, found)

    def _rule(self, element: _Element) -> Mapping:
        found: dict[str, Value] = {key: self._value(element, key) for key in element.attributes}
        for child in element.children:
            if child.name in found:
                self._fail(child, f"<rule> has two <{child.name}>")
            if child.name == "match":
                found["match"] = self._plain(child)
            elif child.name == "drop":
                found["drop"] = Scalar("true", True, child.line, child.column)
            else:
                to = child.attributes.get("to", "")
                words = [self._scalar(child, word) for word in to.split()]
                found[child.name] = (
                    self._sequence(child, words) if child.name == "multipath" else self._scalar(child, to)
                )
        return self._mapping(element, found)

    def _property(self, element: _Element) -> Mapping:
        name = element.attributes.get("name", "")
        if not name:
            self._fail(element, "<property> lacks name")
        fields = {key: self._value(element, key) for key in element.attributes if key != "name"}
        return self._mapping(element, {name: self._mapping(element, fields)})

    def _mapping(self, element: _Element, values: dict[str, Value]) -> Mapping:
        entries = {key: Entry(value, value.line, value.column) for key, value in values.items()}
        return Mapping(entries, element.line, element.column)

    def _sequence(self, element: _Element, values: Iterable[Value]) -> Sequence:
        return Sequence(tuple(values), element.line, element.column)

    def _scalar(self, element: _Element, text: str) -> Scalar:
        return Scalar(text, False, element.line, element.column)

    def _fail(self, element: _Element, problem: str) -> NoReturn:
        remedy = "See docs/reference/network.md for the elements and attributes"
        raise ManifestError(problem, file=self._file, line=element.line, remedy=remedy)
