"""Searches that take nodes of nearly the same size as equal until something tells them apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from kubeproof.cluster.near_nodes import NodeSizeMatters, Tells
from kubeproof.model.plan import Plan
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.coarser import within

T = TypeVar("T")
MOST_ANSWERS = 8  # that may tell nodes apart; beyond, every size is a class of its own


def search_joined(
    plan: Plan,
    options: VerifyOptions,
    search: Callable[[Plan, VerifyOptions], T],
    clock: Callable[[], float] = time.monotonic,
) -> T:
    """What a search finds with as few classes of nodes as it turns out to allow.

    Every restart knows one answer more that depends on a node's size; what the search returns is exact.
    """
    if plan.near is None:
        return search(plan, options)
    begun = clock()
    told_by: tuple[Tells, ...] = ()
    for _ in range(MOST_ANSWERS):
        try:
            joined = replace(plan.near.plan(told_by), by_size=plan)
            if joined.classes == plan.classes:
                break
            return search(joined, within(options, clock() - begun, is_relaxed=False))
        except NodeSizeMatters as found:
            told_by = (*told_by, found.tells)
    return search(plan, within(options, clock() - begun, is_relaxed=False))
