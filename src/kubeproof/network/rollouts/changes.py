"""What a rollout changes, one device operation at a time, and what tables are after some of the changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from itertools import pairwise

from kubeproof.cluster.objects import Source
from kubeproof.network.model import Match, Network, Rule, Snapshot
from kubeproof.values import dataclass

Link = frozenset[str]
Rules = tuple[Rule, ...]

RULE, TABLE, SNAPSHOT = "rule", "table", "snapshot"
UNITS = (RULE, TABLE, SNAPSHOT)


@dataclass(frozen=True, slots=True)
class Edit:
    """Rules of one node that go, and those that come, in one operation."""

    node: str
    removed: Rules = ()
    added: Rules = ()

    def apply(self, rules: Rules) -> Rules:
        """The table after the operation; what replaces a rule takes its place."""
        if self.removed == rules:
            return self.added
        kept = list(rules)
        added = list(self.added)
        for rule in self.removed:
            if rule in kept:
                place = kept.index(rule)
                kept[place : place + 1] = [added.pop(0)] if added else []
        return (*kept, *added)


@dataclass(frozen=True, slots=True)
class Change:
    """What happens at once: edits of nodes, links that fail or come back."""

    edits: tuple[Edit, ...] = ()
    downs: frozenset[Link] = frozenset()
    ups: frozenset[Link] = frozenset()
    source: Source = field(default=Source(), compare=False)

    @property
    def nodes(self) -> frozenset[str]:
        """Where packets can meet it."""
        return frozenset(edit.node for edit in self.edits).union(*self.downs, *self.ups)

    def __str__(self) -> str:
        links = (*_show_links(self.downs, "fails"), *_show_links(self.ups, "works"))
        return "; ".join((*map(_show_edit, self.edits), *links))


@dataclass(frozen=True, slots=True)
class Course:
    """Stages of changes; within one stage they come in any order, the next one begins when all have come."""

    base: Snapshot
    stages: tuple[tuple[Change, ...], ...]
    versions: tuple[Snapshot, ...] = ()  # configurations that somebody meant: the first, the last, those in between

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(change for stage in self.stages for change in stage)


def course_of(snapshots: tuple[Snapshot, ...], unit: str = RULE) -> Course:
    """The rollout that leads from each snapshot to the next one."""
    stages = tuple(find_changes(*pair, unit) for pair in pairwise(snapshots))
    return Course(snapshots[0], tuple(stage for stage in stages if stage), snapshots)


def find_changes(old: Snapshot, new: Snapshot, unit: str = RULE) -> tuple[Change, ...]:
    """The changes from one configuration to another: each rule, the whole table of each node, or all of it at once."""
    edits = [edit for node in dict.fromkeys((*old.tables, *new.tables)) for edit in _edits(old, new, node, unit)]
    downs, ups = new.down - old.down, old.down - new.down
    if unit == SNAPSHOT:
        return (Change(tuple(edits), downs, ups, _place(edits)),) if edits or downs or ups else ()
    links = [Change(downs=frozenset({link})) for link in sorted(downs, key=sorted)]
    links += [Change(ups=frozenset({link})) for link in sorted(ups, key=sorted)]
    return (*(Change((edit,), source=_place([edit])) for edit in edits), *links)


def _edits(old: Snapshot, new: Snapshot, node: str, unit: str) -> Iterator[Edit]:
    before, after = old.tables.get(node, ()), new.tables.get(node, ())
    if before == after:
        return
    if unit != RULE:
        yield Edit(node, before, after)
        return
    removed, added = _missing(before, after), _missing(after, before)
    waiting: dict[tuple[Match, int, int], list[Rule]] = {}
    for rule in removed:
        waiting.setdefault(_key(rule), []).append(rule)
    for rule in added:
        same = waiting.get(_key(rule))
        yield Edit(node, (same.pop(0),) if same else (), (rule,))
    for rules in waiting.values():
        for rule in rules:
            yield Edit(node, (rule,))


def _missing(rules: Rules, others: Rules) -> list[Rule]:
    """The rules that the others have fewer of."""
    rest = Counter(others)
    found = []
    for rule in rules:
        if rest[rule]:
            rest[rule] -= 1
        else:
            found.append(rule)
    return found


def _key(rule: Rule) -> tuple[Match, int, int]:
    return rule.match, rule.priority, rule.metric


def _place(edits: Iterable[Edit]) -> Source:
    rules = [rule for edit in edits for rule in (*edit.added, *edit.removed)]
    return rules[0].source if rules else Source()


def apply_all(base: Snapshot, changes: Iterable[Change], name: str = "") -> Snapshot:
    """The configuration after some changes, in their order."""
    tables, down = dict(base.tables), base.down
    for change in changes:
        for edit in change.edits:
            tables[edit.node] = edit.apply(tables.get(edit.node, ()))
        down = (down | change.downs) - change.ups
    return replace(base, name=name or base.name, tables=tables, down=down)


def union_of(course: Course) -> Snapshot:
    """All rules that there ever are: for what no rule tells apart."""
    tables = {node: list(rules) for node, rules in course.base.tables.items()}
    for change in course.changes:
        for edit in change.edits:
            tables.setdefault(edit.node, []).extend(edit.added)
    return replace(course.base, tables={node: tuple(rules) for node, rules in tables.items()})


def show_rule(rule: Rule) -> str:
    """A rule for people."""
    match = rule.match
    named = (
        ("source", match.source), ("destination", match.destination), ("in port", match.in_port),
        ("protocol", match.protocol), ("group", match.group),
    )  # fmt: skip
    asked = ", ".join(f"{name} {value}" for name, value in named if value != "*")
    rank = f" (priority {rule.priority})" if rule.priority else ""
    action = f"to {' or '.join(rule.to)}" if rule.to else "drop"
    return f"{asked or 'everything'} {action}{rank}"


def _show_edit(edit: Edit) -> str:
    if len(edit.removed) > 1 or len(edit.added) > 1:
        return f"{edit.node}: table with {len(edit.added)} rules replaces one with {len(edit.removed)}"
    if edit.removed and edit.added:
        return f"{edit.node}: {show_rule(edit.added[0])}, instead of {show_rule(edit.removed[0])}"
    if edit.added:
        return f"{edit.node}: + {show_rule(edit.added[0])}"
    return f"{edit.node}: - {show_rule(edit.removed[0])}" if edit.removed else f"{edit.node}: nothing"


def _show_links(links: frozenset[Link], what: str) -> list[str]:
    return [f"link {' - '.join(sorted(link))} {what}" for link in sorted(links, key=sorted)]


def check_alike(old: Network, new: Network) -> str:
    """What two networks do not have in common besides rules; empty if nothing."""
    for what, one, other in (
        ("nodes", set(old.nodes), set(new.nodes)),
        ("links", set(old.links), set(new.links)),
        ("traffic", set(old.traffic), set(new.traffic)),
    ):
        if one != other:
            return what
    return ""
