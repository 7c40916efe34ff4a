"""The slow twin of checking rollouts: every interleaving of packet and changes, with whole tables, one by one.

The twin shares the automata with the product but none of its code: changes are made, rules matched and paths walked
here once more, as plainly as possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from random import Random
from typing import NamedTuple

from kubeproof.logic.automata.operations import closure
from kubeproof.logic.lasso import Lasso
from kubeproof.network.model import Match, Network, Node, Rule, Snapshot, Traffic
from kubeproof.network.properties.automata import PathProperty
from kubeproof.network.rollouts.changes import Change, Course
from kubeproof.network.rollouts.result import Round
from tests.property.networks import (
    Pair,
    Place,
    letter,
    options,
    pairs,
    random_network,
    random_rule,
)


class Moment(NamedTuple):
    """A packet at a place, and the changes that have come."""

    place: Place
    done: frozenset[int]


MOST_RUNS = 800  # of one packet
ENDLESS = 1_000  # steps of a run that goes round


class TooLong(Exception):
    """One packet has more runs than can be listed."""


Bad = dict[Pair, int | None]  # steps of the shortest bad run; None if there is none


def configuration(course: Course, done: frozenset[int]) -> Snapshot:
    """Tables after some changes, rule by rule."""
    tables = {node: list(rules) for node, rules in course.base.tables.items()}
    down = set(course.base.down)
    for number in sorted(done):
        change = course.changes[number]
        for edit in change.edits:
            table = tables.setdefault(edit.node, [])
            for rule in edit.removed:
                table.remove(rule)
            table += edit.added
        down = (down | change.downs) - change.ups
    return replace(course.base, tables={node: tuple(rules) for node, rules in tables.items()}, down=frozenset(down))


def coming(course: Course, done: frozenset[int]) -> list[int]:
    """The changes that may come next."""
    first = 0
    for stage in course.stages:
        open_here = [number for number in range(first, first + len(stage)) if number not in done]
        if open_here:
            return open_here
        first += len(stage)
    return []


def runs(
    network: Network, course: Course, pair: Pair, one: PathProperty, most: int
) -> Iterator[tuple[str, list[Moment], Lasso[int]]]:
    """Every run of one packet, with how it ends and its word. Rounds count once the rollout is over."""
    traffic = network.traffic[pair[0]]
    everything = frozenset(range(len(course.changes)))
    pending = [[Moment(Place(pair[1], None, 0, 0), frozenset())]]
    count = 0
    while pending:
        path = pending.pop()
        count += 1
        if count > most:
            raise TooLong
        here = path[-1]
        walked = [moment for number, moment in enumerate(path) if number + 1 == len(path) or _moved(path, number)]
        read = tuple(letter(one, network, traffic, pair, moment.place, False) for moment in walked)
        if here.place.node == pair[2]:
            yield "ends", path, Lasso(read, (read[-1] if one.stutter is None else one.stutter,))
            continue
        for number in coming(course, here.done):
            pending.append([*path, Moment(here.place, here.done | {number})])
        found = options(network, configuration(course, here.done), traffic, pair, here.place)
        for number, to in enumerate(found):
            if to is None:
                lost = letter(one, network, traffic, pair, here.place, True)
                yield "ends", path, Lasso((*read, lost), (lost,))
                continue
            chosen = number + 1 if len(found) > 1 and here.place.path == 0 else here.place.path
            place = Place(to, here.place.node, min(here.place.hop + 1, one.most_hops), min(chosen, one.most_paths))
            after = Moment(place, here.done)
            for first in (
                number for number, moment in enumerate(walked) if moment == after and here.done == everything
            ):
                yield "loops", path, Lasso(read[:first], read[first:])
            if path.count(after) < 2:
                pending.append([*path, after])


def _moved(path: Sequence[Moment], number: int) -> bool:
    return path[number].done == path[number + 1].done


def enumerated(network: Network, course: Course, one: PathProperty, most: int = MOST_RUNS) -> Bad:
    """What checking must find: the pairs that some run violates."""
    closed = closure(one.automaton)
    found: Bad = dict.fromkeys(pairs(network))
    for pair in found:
        for how, path, word in runs(network, course, pair, one, most):
            if not closed.accepts(word) or not one.automaton.accepts(word):
                steps = len(path) - 1 if how == "ends" else ENDLESS
                known = found[pair]
                found[pair] = steps if known is None else min(known, steps)
    return found


def has_mixed_path(network: Network, course: Course, pair: Pair) -> bool:
    """True if some packet goes in a way that none of the meant configurations would send it."""
    traffic = network.traffic[pair[0]]
    pending = [(Moment(Place(pair[1], None, 0, 0), frozenset()), frozenset(range(len(course.versions))))]
    seen = set()
    while pending:
        state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        here, loyal = state
        if not loyal:
            return True
        if here.place.node == pair[2]:
            continue
        pending += [(Moment(here.place, here.done | {number}), loyal) for number in coming(course, here.done)]
        for to in options(network, configuration(course, here.done), traffic, pair, here.place):
            same = frozenset(
                number for number in loyal if to in options(network, course.versions[number], traffic, pair, here.place)
            )
            place = here.place if to is None else Place(to, here.place.node, 0, 0)
            if to is None and not same:
                return True
            if to is not None:
                pending.append((Moment(place, here.done), same))
    return False


def epochs_of(base: Snapshot, rounds: Sequence[Round]) -> list[Course]:
    """A plan as rollouts between which packets leave."""
    found, stages = [], []
    for one in rounds:
        stages.append(one.changes)
        if one.waits:
            found.append(Course(base, tuple(stages)))
            base, stages = configuration(found[-1], frozenset(range(len(found[-1].changes)))), []
    return [*found, Course(base, tuple(stages))]


def keeps(network: Network, course: Course, properties: Sequence[PathProperty]) -> bool:
    """True if no run of any packet violates any property."""
    return all(
        steps is None for one in properties for steps in enumerated(network, course, one, 12 * MOST_RUNS).values()
    )


def some_order_keeps(
    network: Network, base: Snapshot, changes: Sequence[Change], properties: Sequence[PathProperty]
) -> bool:
    """True if the changes can be made one by one, packets leaving in between, such that all is kept: all orders."""
    done = {frozenset[int]()}
    whole = Course(base, (tuple(changes),))
    for _ in changes:
        done = {
            after
            for before in done
            for number in range(len(changes))
            if (after := before | {number}) != before
            and keeps(network, Course(configuration(whole, before), ((changes[number],),)), properties)
        }
    return bool(done) and keeps(network, Course(base, ()), properties)


# Random input

NAMES = "abcdef"


def random_update(random: Random, changes: int = 0) -> tuple[Network, tuple[Snapshot, ...]]:
    """A small network, and two or three configurations that differ in a few rules or links."""
    network = random_network(random)
    snapshots = [replace(network.snapshots[0], down=frozenset())]
    for _ in range(random.choice((1, 1, 1, 2))):
        snapshots.append(_mutate(random, network, snapshots[-1], changes or random.choice((1, 1, 2, 2, 3))))
    return replace(network, snapshots=tuple(snapshots)), tuple(snapshots)


def random_trees(random: Random, most: int = 6) -> tuple[Network, tuple[Snapshot, ...]]:
    """Five or six nodes that all send to one, along two different trees."""
    names = NAMES[: min(random.choice((4, 5, 5, 6)), most)]
    density = random.choice((0.6, 1.0))  # if all are neighbours, every packet passes all of them
    links = frozenset(
        frozenset(pair)
        for pair in combinations(names, 2)
        if random.random() < density or abs(ord(pair[0]) - ord(pair[1])) == 1
    )
    network = Network(
        nodes=tuple(Node(name) for name in names),
        links=links,
        traffic=(Traffic(random.choice(((names[-1],), names[1:])), (names[0],)),),
        snapshots=(),
    )
    snapshots = tuple(Snapshot(text, random_tree(random, network)) for text in ("old", "new"))
    return replace(network, snapshots=snapshots), snapshots


def random_tree(random: Random, network: Network) -> dict[str, tuple[Rule, ...]]:
    names = [node.name for node in network.nodes]
    if len(network.links) == len(names) * (len(names) - 1) // 2:
        way = [names[-1], *random.sample(names[1:-1], len(names) - 2), names[0]]
        return {one: (Rule(Match(), (to,)),) for one, to in sorted(pairwise(way))}
    inside, tables = [names[0]], {}
    while len(inside) < len(names):
        name = random.choice([one for one in names if one not in inside and {*network.neighbours[one]} & {*inside}])
        tables[name] = (Rule(Match(), (random.choice([one for one in inside if one in network.neighbours[name]]),)),)
        inside.append(name)
    return {name: tables[name] for name in sorted(tables)}


def _mutate(random: Random, network: Network, snapshot: Snapshot, count: int) -> Snapshot:
    tables, down = dict(snapshot.tables), snapshot.down
    for _ in range(count):
        if random.random() < 0.1 and network.links:
            down = down ^ {random.choice(sorted(network.links, key=sorted))}
            continue
        node = random.choice([one.name for one in network.nodes])
        rules: list[Rule] = list(tables.get(node, ()))
        beside = list(network.neighbours[node])
        kind = random.random()
        if rules and kind < 0.5:
            place = random.randrange(len(rules))
            old = rules[place]
            new = random_rule(random, beside)
            rules[place] = replace(old, to=new.to) if random.random() < 0.7 else new
        elif rules and kind < 0.65:
            rules.pop(random.randrange(len(rules)))
        else:
            rules.append(random_rule(random, beside))
        tables[node] = tuple(rules)
    return replace(snapshot, tables=tables, down=down)
