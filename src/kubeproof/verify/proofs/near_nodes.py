"""Searches that take nodes of nearly the same size as equal until something tells them apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from kubeproof.cluster.nodes.near_nodes import NodeSizeMatters, Tells
from kubeproof.model.plan import Plan
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.coarser import within

T = TypeVar("T")
MOST_ANSWERS = 8  # that may tell nodes apart; beyond, every size is a class of its own


class NodeClasses:
    """A plan with as few classes of nodes as its searches turned out to allow."""

    def __init__(self, plan: Plan, clock: Callable[[], float] = time.monotonic) -> None:
        self._plan, self._clock = plan, clock
        self._told_by: tuple[Tells, ...] = ()
        self._joined: Plan | None = None if plan.near is not None else plan

    def search(self, options: VerifyOptions, search: Callable[[Plan, VerifyOptions], T]) -> T:
        """What a search finds.

        Every restart knows one answer more that depends on a node's size; what the search returns is exact.
        """
        if self._plan.near is None:
            return search(self._plan, options)
        begun = self._clock()
        while True:
            try:
                plan = self._join()
                left = options if self._plan.near is None else within(options, self._clock() - begun, is_relaxed=False)
                return search(plan, left)
            except NodeSizeMatters as found:
                if self._joined is self._plan:
                    raise
                self._told_by = (*self._told_by, found.tells)
                self._joined = None

    def _join(self) -> Plan:
        """The plan with the classes that are allowed as far as is known."""
        if self._joined is None:
            assert self._plan.near is not None
            is_told_apart = len(self._told_by) >= MOST_ANSWERS
            joined = self._plan if is_told_apart else replace(self._plan.near.plan(self._told_by), by_size=self._plan)
            self._joined = self._plan if joined.classes == self._plan.classes else joined
        return self._joined


def search_joined(
    plan: Plan,
    options: VerifyOptions,
    search: Callable[[Plan, VerifyOptions], T],
    clock: Callable[[], float] = time.monotonic,
) -> T:
    """What one search finds with as few classes of nodes as it turns out to allow."""
    return NodeClasses(plan, clock).search(options, search)
