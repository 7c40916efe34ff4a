"""Policies in tiers: administrators first, then those of namespaces, then the baseline.

Semantics of policy.networking.k8s.io: of an administrator's rules the first one that matches decides, policies with
lower numbers before others. What passes, or meets no rule, comes to the NetworkPolicies that select the pods; if there
are none, to the baseline; what meets no rule there is allowed. Whether a rule matches may not be sure: then a
connection may be decided by it, and may go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from kubeproof.network.kubernetes.objects import Action, AdminPolicy, AdminRule, Sure
from kubeproof.network.kubernetes.ports import ALL_PORTS, NO_PORTS, Ports, difference, intersection, union


class Tiers:
    """What becomes of the ports of one connection in one direction, tier by tier."""

    def __init__(self, match: Callable[[AdminRule], tuple[Sure, Ports]]) -> None:
        self._match = match
        self._open = ALL_PORTS  # what may have met no decision yet
        self._may_allow: Ports = NO_PORTS
        self._may_deny: Ports = NO_PORTS
        self.accepting: list[tuple[AdminPolicy, AdminRule, Ports]] = []

    def judge(self, policies: Sequence[tuple[AdminPolicy, Sure]], direction: str) -> None:
        """Lets administrators decide; what passes is open for the next tier."""
        rest, passed = self._open, NO_PORTS
        for policy, selects in policies:
            for rule in policy.rules[direction]:
                matches, ports = self._match(rule)
                met = intersection(ports, rest)
                sure = min(selects, matches)
                if not sure or not met:
                    continue
                if rule.action is Action.ACCEPT:
                    self._may_allow = union(self._may_allow, met)
                    self.accepting.append((policy, rule, met))
                elif rule.action is Action.DENY:
                    self._may_deny = union(self._may_deny, met)
                else:
                    passed = union(passed, met)
                if sure is Sure.YES:
                    rest = difference(rest, met)
        self._open = union(rest, passed)

    def hand_over(self, parts: Sequence[tuple[Ports, Ports, Sure]]) -> None:
        """Lets NetworkPolicies decide, each with the ports it admits at least and at most.

        They leave nothing open if one of them is about the pods for certain.
        """
        if not parts:
            return
        most = reduce(union, [most for _, most, _ in parts])
        certain = [least for least, _, sure in parts if sure is Sure.YES]
        least = reduce(union, certain) if certain else reduce(intersection, [least for least, _, _ in parts])
        self._may_allow = union(self._may_allow, intersection(self._open, most))
        self._may_deny = union(self._may_deny, difference(self._open, least))
        if certain:
            self._open = NO_PORTS

    def finish(self) -> tuple[Ports, Ports]:
        """The ports that are allowed for certain, and those that may be."""
        may_allow = union(self._may_allow, self._open)
        return difference(may_allow, self._may_deny), may_allow
