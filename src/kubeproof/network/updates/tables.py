"""The table of a node, found by destination: rules can come and go, and those about some packets be listed, quickly."""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.network.model import Rule
from kubeproof.network.properties.patterns import address_number, is_exact, is_prefix, prefix_range

MOST_LOOKED_UP = 64  # destinations; for more all rules are listed
_BITS = {4: 32, 6: 128}
Found = dict[int, Rule]  # by number, which tells the order


class IndexedTable:
    """Rules in the order in which they came."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._all: Found = {}
        self._numbers: dict[Rule, list[int]] = {}
        self._exact: dict[str, Found] = {}
        self._prefixes: dict[tuple[int, int], dict[int, Found]] = {}  # version and length -> first bits
        self._others: Found = {}
        self._next = 0
        for rule in rules:
            self.add(rule)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules."""
        return tuple(self._all.values())

    def add(self, rule: Rule) -> None:
        """Puts a rule behind the others."""
        number, self._next = self._next, self._next + 1
        self._all[number] = rule
        self._numbers.setdefault(rule, []).append(number)
        self._shelf(rule.match.destination)[number] = rule

    def remove(self, rule: Rule) -> bool:
        """Takes away the first rule that equals this one; False if there is none."""
        numbers = self._numbers.get(rule)
        if not numbers:
            return False
        number = numbers.pop(0)
        if not numbers:
            del self._numbers[rule]
        del self._all[number]
        del self._shelf(rule.match.destination)[number]
        return True

    def _shelf(self, pattern: str) -> Found:
        if is_exact(pattern):
            return self._exact.setdefault(pattern, {})
        if not is_prefix(pattern):
            return self._others
        (version, first), (_, last) = prefix_range(pattern)
        free = (last - first).bit_length()
        return self._prefixes.setdefault((version, free), {}).setdefault(first >> free, {})

    def about(self, destinations: Iterable[tuple[str, str]]) -> tuple[Rule, ...]:
        """The rules that match one of the destinations (name and address), and maybe others, in order."""
        found = dict(self._others)
        for name, address in destinations:
            if name in self._exact:
                found |= self._exact[name]
            if not address:
                continue
            version, number = address_number(address)
            for (also, free), shelf in self._prefixes.items():
                if also == version and (here := shelf.get(number >> free)):
                    found |= here
        return tuple(found[number] for number in sorted(found))
