"""Reads match-action rules and links; whatever names a node is checked against the nodes."""

from __future__ import annotations

from kubeproof.manifests.yaml.fields import Fields, Log, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Scalar, ScalarKind, Value
from kubeproof.network.model import ANY, Match, Rule
from kubeproof.network.properties.patterns import is_exact


class RuleReader:
    """Reads what names the nodes of one network."""

    def __init__(self, addresses: dict[str, str], log: Log) -> None:
        self._addresses = addresses
        self._log = log

    def check_known(self, name: str, line: int) -> str:
        if name not in self._addresses:
            self._log.fail(f"no node {printable(name)!r}", line=line, remedy=suggestion(name, self._addresses))
        return name

    def read_link(self, fields: Fields, key: str, item: Value) -> frozenset[str]:
        ends = [end for end in getattr(item, "items", ()) if isinstance(end, Scalar) and end.kind is ScalarKind.STRING]
        if len(ends) != 2 or len(getattr(item, "items", ())) != 2 or ends[0].text == ends[1].text:
            fields.log.fail(f"{fields.path_of(key)}: no link", line=item.line, remedy="Write [one node, another node]")
        return frozenset(self.check_known(end.text, end.line) for end in ends)

    def read_rule(self, fields: Fields, node: str, links: frozenset[frozenset[str]]) -> Rule:
        actions = [key for key in ("forward", "multipath", "drop") if fields.has(key)]
        if len(actions) != 1:
            fields.log.fail(
                f"{fields.path}: {len(actions)} actions",
                line=fields.mapping.line,
                remedy="Write one of forward: NODE, multipath: [NODE, ...] and drop: true",
            )
        to = self._targets(fields, actions[0], node, links)
        rule = Rule(
            match=self._match(fields.child("match")),
            to=to,
            priority=fields.integer("priority", least=0) or 0,
            metric=fields.integer("metric", least=0) if fields.has("metric") else 1,  # type: ignore[arg-type]
            queue=fields.number("queue") or "",
            source=fields.source,
        )
        fields.finish_strictly("match", "forward", "multipath", "drop", "priority", "metric", "queue")
        return rule

    def _targets(self, fields: Fields, action: str, node: str, links: frozenset[frozenset[str]]) -> tuple[str, ...]:
        if action == "drop":
            if not fields.boolean("drop"):
                fields.fail("drop", "is false", remedy="Write drop: true, or another action")
            return ()
        names = (fields.require_text("forward"),) if action == "forward" else fields.texts("multipath")
        if not names:
            fields.fail(action, "is empty", remedy="Name at least one node, or write drop: true")
        for name in names:
            self.check_known(name, fields.line_of(action))
            if frozenset((node, name)) not in links:
                fields.fail(action, f"names {printable(name)!r}, which {node} has no link to", remedy="Add the link")
        return tuple(dict.fromkeys(names))

    def _match(self, fields: Fields | None) -> Match:
        if fields is None:
            return Match()
        match = Match(
            source=self._pattern(fields, "source"),
            destination=self._pattern(fields, "destination"),
            in_port=self._pattern(fields, "inPort"),
            protocol=fields.text("protocol") or ANY,
            group=fields.text("priorityGroup") or ANY,
        )
        fields.finish_strictly("source", "destination", "inPort", "protocol", "priorityGroup")
        return match

    def _pattern(self, fields: Fields, key: str) -> str:
        pattern = fields.text(key)
        if pattern is None:
            return ANY
        if is_exact(pattern):
            self.check_known(pattern, fields.line_of(key))
        return pattern
