"""The smallest sets of failures that break properties.

A set of failures that breaks nothing is extended only by elements that packets use in it: any other failure changes
nothing for any packet. So every smallest breaking set is found: on the way to it from the empty set, each set that does
not break is followed by one more element that is used. Sets that exchanging twins maps to each other are looked at
once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from kubeproof.errors import NothingToCheckError
from kubeproof.network.check import Checker, check
from kubeproof.network.checking.findings import Found, Pairs, count, unite, without
from kubeproof.network.failures.scene import Element, Failed, fail, find_usage
from kubeproof.network.failures.twins import find_twins, images
from kubeproof.network.model import Network, Snapshot
from kubeproof.network.properties.machine import Prepared
from kubeproof.network.properties.patterns import NodeSet
from kubeproof.network.result import Counterexample
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

LINKS, NODES, BOTH = "links", "nodes", "both"
WHAT = (LINKS, NODES, BOTH)


@dataclass(frozen=True, slots=True)
class FailureOptions:
    """Which failures are looked at."""

    most: int = 1
    what: str = LINKS
    reroutes: bool = False
    most_sets: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Breaking:
    """A smallest set of failures that breaks a property; no part of it does."""

    failed: tuple[Element, ...]
    pairs: int  # of source and destination that are bad because of it
    alike: int  # sets that exchanging twins makes of it, this one included
    example: tuple[str, str]  # one of the pairs


@dataclass(frozen=True, slots=True)
class Survival:
    """What one property survives."""

    property: str
    verdict: Verdict
    survives: int  # any so many failures
    already: int  # pairs that are bad without a failure
    breaking: tuple[Breaking, ...]  # smallest first
    counterexample: Counterexample | None = None  # of the first


@dataclass(frozen=True, slots=True)
class FailureResult:
    """What a network survives."""

    network: str
    snapshot: str
    most: int
    what: str
    reroutes: bool
    elements: int
    sets: int  # that were checked
    skipped: int  # that need not be, as they are like another one
    survivals: tuple[Survival, ...]
    reason: str = ""  # why it is not complete
    notes: tuple[str, ...] = ()
    is_interrupted: bool = False

    @property
    def verdict(self) -> Verdict:
        """The worst of all."""
        found = {one.verdict for one in self.survivals}
        for word in (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.VACUOUS):
            if word in found and (word is not Verdict.VACUOUS or found == {Verdict.VACUOUS}):
                return word
        return Verdict.HOLDS


def find_breaking(
    network: Network,
    snapshot: Snapshot,
    prepared: Sequence[Prepared],
    options: FailureOptions = FailureOptions(),
    stop: Stop | None = None,
    notes: tuple[str, ...] = (),
) -> FailureResult:
    """The smallest sets of failures that break each property."""
    if not prepared:
        raise NothingToCheckError(
            "E301 no property. Add spec.properties to the file, or --property, --ltl, --automaton."
        )
    search = _Search(network, snapshot, prepared, options, stop or Stop())
    search.run()
    return FailureResult(
        network=network.name,
        snapshot=snapshot.name,
        most=options.most,
        what=options.what,
        reroutes=options.reroutes,
        elements=len(search.elements),
        sets=search.checked,
        skipped=search.skipped,
        survivals=tuple(search.survivals()),
        reason=search.reason,
        notes=notes,
        is_interrupted=bool(search.reason) and stop is not None and stop.is_asked,
    )


@dataclass(slots=True)
class _Kept:
    """What is known of one property."""

    prepared: Prepared
    base: Pairs
    pairs: int
    broken: list[tuple[Failed, Pairs, int]] = field(default_factory=list)
    sets: set[Failed] = field(default_factory=set)  # the same with their images


class _Search:
    """Sets of failures by size."""

    def __init__(
        self, network: Network, snapshot: Snapshot, prepared: Sequence[Prepared], options: FailureOptions, stop: Stop
    ) -> None:
        self._network = network
        self._snapshot = snapshot
        self._options = options
        self._stop = stop
        self._sets = tuple(NodeSet(traffic.destinations, network.addresses) for traffic in network.traffic)
        self.elements = tuple(self._find_elements())
        self._twins = find_twins(network, snapshot, prepared)
        self._kept = []
        for one in prepared:
            checker, found = self._check(one, frozenset())
            self._kept.append(_Kept(one, _bad(found), checker.pairs))
        self.checked = 1
        self.skipped = 0
        self.reason = ""
        self._complete = 0  # all sets of this size were looked at

    def _find_elements(self) -> Iterator[Element]:
        network = self._network
        if self._options.what != NODES:
            yield from sorted(network.links - self._snapshot.down, key=sorted)
        if self._options.what != LINKS:
            ends = {name for traffic in network.traffic for name in (*traffic.sources, *traffic.destinations)}
            yield from (node.name for node in network.nodes if node.name not in ends and network.neighbours[node.name])

    def run(self) -> None:
        """Level by level."""
        level: list[Failed] = [frozenset()]
        for size in range(1, self._options.most + 1):
            seen: set[Failed] = set()
            following: list[Failed] = []
            for failed in level:
                for after in self._extend(failed):
                    if after in seen:
                        self.skipped += 1
                        continue
                    if not self._may_go_on():
                        return
                    alike = list(images(after, self._twins))
                    seen.update(alike)
                    if self._judge(after, alike):
                        following.append(after)
            level = following
            self._complete = size

    def _may_go_on(self) -> bool:
        if self._stop.is_asked:
            self._stop.obey()
            self.reason = "interrupted"
        elif self.checked >= self._options.most_sets:
            self.reason = f"more than {self._options.most_sets:,} sets; see --max-sets"
        return not self.reason

    def _extend(self, failed: Failed) -> Iterator[Failed]:
        usage = find_usage(self._network, self._scene(failed), self._sets)
        for element in self.elements:
            if element not in failed and usage.uses(element):
                yield failed | {element}

    def _scene(self, failed: Failed) -> Snapshot:
        return fail(self._network, self._snapshot, failed, reroutes=self._options.reroutes)

    def _judge(self, failed: Failed, alike: Sequence[Failed]) -> bool:
        """Looks at a set; True if it may be part of a smallest breaking one for some property."""
        self.checked += 1
        is_open = False
        for kept in self._kept:
            if any(failed - {one} in kept.sets for one in failed) or self._has_broken_part(kept, failed):
                continue
            _, found = self._check(kept.prepared, failed)
            worse = without(_bad(found), kept.base)
            if worse:
                kept.broken.append((failed, worse, len(alike)))
                kept.sets.update(alike)
            else:
                is_open = True
        return is_open

    def _has_broken_part(self, kept: _Kept, failed: Failed) -> bool:
        return len(failed) > 2 and any(broken < failed for broken in kept.sets)

    def _check(self, one: Prepared, failed: Failed) -> tuple[Checker, Found]:
        checker = Checker(self._network.narrow(self._network.traffic, (self._scene(failed),)), one)
        return checker, checker.snapshot(0)

    def survivals(self) -> Iterator[Survival]:
        """What each property survives."""
        for kept in self._kept:
            breaking = tuple(self._breaking(*one) for one in kept.broken)
            smallest = len(breaking[0].failed) if breaking else self._options.most + 1
            verdict = Verdict.VIOLATED if breaking else Verdict.UNKNOWN if self.reason else Verdict.HOLDS
            if not kept.pairs:
                verdict = Verdict.VACUOUS
            survives = min(smallest - 1, self._complete)
            name, already = kept.prepared.property.name, count(kept.base)
            yield Survival(name, verdict, survives, already, breaking, self._show(kept))

    def _breaking(self, failed: Failed, worse: Pairs, alike: int) -> Breaking:
        (number, source), mask = next(iter(worse.items()))
        destination = self._sets[number].members(mask & -mask)[0]
        return Breaking(tuple(sorted(failed, key=_in_order)), count(worse), alike, (source, destination))

    def _show(self, kept: _Kept) -> Counterexample | None:
        """The counterexample of the first breaking set, replayed; none if something was bad before."""
        if not kept.broken or kept.base:
            return None
        scene = self._scene(kept.broken[0][0])
        result = check(self._network.narrow(self._network.traffic, (scene,)), kept.prepared, final=True)
        return result.counterexamples[0]


def _bad(found: Found) -> Pairs:
    return unite((found.unsafe, found.unmet, found.endless))


def _in_order(element: Element) -> tuple[bool, list[str]]:
    return isinstance(element, str), [element] if isinstance(element, str) else sorted(element)


def show_element(element: Element) -> str:
    """A link or a node for people."""
    return element if isinstance(element, str) else " - ".join(sorted(element))
