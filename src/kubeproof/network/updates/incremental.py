"""Keeps the answers for a network while its rules change.

What a rule says concerns the destinations that its pattern covers, and no others: forwarding to different destinations
never meets in a state of the search. So after a change only those are checked again, with the rules about them, by the
checker that checks whole networks. Facts about all packets of a snapshot (loads, shared queues) are worked out anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from kubeproof.cluster.objects import Source
from kubeproof.errors import UsageError
from kubeproof.network.check import Checker
from kubeproof.network.checking.findings import Found
from kubeproof.network.model import ANY, Network, Rule, Snapshot, Traffic
from kubeproof.network.properties.machine import Prepared
from kubeproof.network.properties.patterns import NodeSet
from kubeproof.network.updates.tables import MOST_LOOKED_UP, IndexedTable
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

UNSAFE, UNMET, ENDLESS = "unsafe", "unmet", "endless"
KINDS = (UNSAFE, UNMET, ENDLESS)
_WHOLE = {"SKEWED", "SHARED_QUEUE"}
Link = frozenset[str]
Place = tuple[int, str]  # number of the traffic, destination
Pair = tuple[int, str, str]  # number of the traffic, source, destination


@dataclass(frozen=True, slots=True)
class Update:
    """A rule that comes or goes, or a link that fails or works again."""

    verb: str  # add, remove, down, up
    node: str = ""
    rule: Rule | None = None
    link: Link = frozenset()
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class Delta:
    """What an update changed for one property."""

    property: str
    verdict: Verdict
    worse: tuple[tuple[Pair, str], ...]  # pairs that are bad now, and how
    better: tuple[Pair, ...]  # pairs that no longer are
    bad: int  # pairs, in all


class Watch:
    """A network, its properties, and what is known of them."""

    def __init__(self, network: Network, snapshot: Snapshot, prepared: Sequence[Prepared], *, final: bool) -> None:
        self._network = network
        self._final = final
        self._tables = {name: IndexedTable(rules) for name, rules in snapshot.tables.items() if rules}
        self._down = snapshot.down
        self._sets = tuple(NodeSet(traffic.destinations, network.addresses) for traffic in network.traffic)
        self.answers = tuple(_Answer(make_lean(one)) for one in prepared)
        everything = [(number, traffic, traffic) for number, traffic in enumerate(network.traffic)]
        for answer in self.answers:
            answer.replace_at(everything, self._check(answer.prepared, everything, self.snapshot()))

    def snapshot(self) -> Snapshot:
        """All rules as they are now."""
        return Snapshot("now", {name: table.rules for name, table in self._tables.items()}, self._down)

    def verdict(self, answer: _Answer) -> Verdict:
        """What is known of a property now."""
        counts = answer.counts()
        if counts[UNSAFE] or counts[ENDLESS] or (counts[UNMET] and self._final):
            return Verdict.VIOLATED
        if counts[UNMET]:
            return Verdict.UNKNOWN
        return Verdict.HOLDS if self._final or not answer.prepared.has_liveness else Verdict.HOLDS_BOUNDED

    def apply(self, update: Update) -> tuple[Delta, ...]:
        """Makes an update; what it changed, property by property, without those that it did not."""
        masks = self._find_concerned(update)
        narrow = []
        for number, traffic in enumerate(self._network.traffic):
            if masks[number]:
                names = tuple(self._sets[number].members(masks[number]))
                narrow.append((number, traffic, replace(traffic, destinations=names)))
        deltas = []
        for answer in self.answers:
            if answer.prepared.reads & _WHOLE:
                parts = [(number, traffic, traffic) for number, traffic in enumerate(self._network.traffic)]
                found = self._check(answer.prepared, parts, self.snapshot())
            elif narrow:
                parts = narrow
                found = self._check(answer.prepared, parts, self._about(parts))
            else:
                continue
            worse, better = answer.replace_at(parts, found)
            if worse or better:
                name, verdict = answer.prepared.property.name, self.verdict(answer)
                deltas.append(Delta(name, verdict, tuple(worse), tuple(better), sum(answer.counts().values())))
        return tuple(deltas)

    def _find_concerned(self, update: Update) -> list[int]:
        """The destinations of each traffic that an update is about; makes it."""
        if update.verb in ("down", "up"):
            self._down = self._down | {update.link} if update.verb == "down" else self._down - {update.link}
            one, other = sorted(update.link)
            rules = [rule for rule in self._table(one).rules if other in rule.to]
            rules += [rule for rule in self._table(other).rules if one in rule.to]
        else:
            assert update.rule is not None
            table = self._table(update.node)
            if update.verb == "add":
                table.add(update.rule)
            elif not table.remove(update.rule):
                problem = f"{update.source.file}:{update.source.line}: {update.node} has no such rule"
                raise UsageError(problem, "Remove a rule as it was added.")
            rules = [update.rule]
        return [self._cover(number, traffic, rules) for number, traffic in enumerate(self._network.traffic)]

    def _table(self, node: str) -> IndexedTable:
        """The table of a node; most nodes of most networks, hosts, have none."""
        return self._tables.setdefault(node, IndexedTable())

    def _cover(self, number: int, traffic: Traffic, rules: Iterable[Rule]) -> int:
        mask = 0
        for rule in rules:
            if rule.match.protocol in (ANY, traffic.protocol) and rule.match.group in (ANY, traffic.group):
                mask |= self._sets[number].cover(rule.match.destination)
        return mask

    def _about(self, parts: Sequence[tuple[int, Traffic, Traffic]]) -> Snapshot:
        """The rules about some destinations."""
        names = {name for _, _, traffic in parts for name in traffic.destinations}
        if len(names) > MOST_LOOKED_UP:
            return self.snapshot()
        addresses = self._network.addresses
        wanted = [(name, addresses[name]) for name in sorted(names)]
        return Snapshot("now", {name: table.about(wanted) for name, table in self._tables.items()}, self._down)

    def _check(
        self, prepared: Prepared, parts: Sequence[tuple[int, Traffic, Traffic]], snapshot: Snapshot
    ) -> Iterator[tuple[Pair, str]]:
        """The bad pairs among some of the traffic."""
        network = self._network.narrow(tuple(traffic for _, _, traffic in parts), (snapshot,))
        checker = Checker(network, prepared)
        yield from _name_pairs(checker, checker.snapshot(0), [number for number, _, _ in parts])


def make_lean(prepared: Prepared) -> Prepared:
    """The same without the machine that looks for bad prefixes, if there are none."""
    if prepared.liveness is None or not all(all(targets) for targets in prepared.safety.moves):
        return prepared
    return replace(prepared, safety=prepared.liveness, liveness=None)


class _Answer:
    """The bad pairs of one property, by destination."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._bad: dict[Place, dict[str, str]] = {}  # source -> how
        self._counts = dict.fromkeys(KINDS, 0)

    def counts(self) -> dict[str, int]:
        """How many pairs are bad, by how."""
        return self._counts

    @property
    def pairs(self) -> dict[Pair, str]:
        """All bad pairs."""
        return {(number, one, to): how for (number, to), found in self._bad.items() for one, how in found.items()}

    def replace_at(
        self, parts: Sequence[tuple[int, Traffic, Traffic]], found: Iterator[tuple[Pair, str]]
    ) -> tuple[list[tuple[Pair, str]], list[Pair]]:
        """Takes what was found for some destinations in place of what was known; what became worse and better."""
        fresh: dict[Place, dict[str, str]] = {}
        for (number, source, destination), how in found:
            fresh.setdefault((number, destination), {})[source] = how
        worse, better = [], []
        for number, _, traffic in parts:
            for destination in traffic.destinations:
                place = (number, destination)
                before, after = self._bad.pop(place, {}), fresh.get(place, {})
                if after:
                    self._bad[place] = after
                if before == after:
                    continue
                worse += [((number, one, destination), how) for one, how in after.items() if before.get(one) != how]
                better += [(number, one, destination) for one in before if one not in after]
                for found_there, step in ((before, -1), (after, 1)):
                    for how in found_there.values():
                        self._counts[how] += step
        return worse, better


def _name_pairs(checker: Checker, found: Found, numbers: Sequence[int]) -> Iterator[tuple[Pair, str]]:
    if not found.bad:
        return
    for how, pairs in ((UNSAFE, found.unsafe), (UNMET, found.unmet), (ENDLESS, found.endless)):
        for (place, source), mask in pairs.items():
            for destination in checker.sets[place].members(mask):
                yield (numbers[place], source, destination), how
