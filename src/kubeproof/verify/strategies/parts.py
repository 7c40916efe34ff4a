"""The parts of an input whose workloads meet on nodes only, looked at one by one where the whole is too large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.coarser import within
from kubeproof.verify.proofs.slicing import Slice, cut_by_relations
from kubeproof.verify.result import Statistics
from kubeproof.verify.strategies.contract import MAX_INTENTS
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.reference import decline_other_engine

ONE_BY_ONE = "workloads searched one by one where the whole was too large"


def parts_of(inquiry: Inquiry) -> tuple[Slice, ...]:
    """The parts; none if they cannot be looked at one by one."""
    if inquiry.parts is None:
        inquiry.parts = _find_parts(inquiry)
    return inquiry.parts if isinstance(inquiry.parts, tuple) else ()


def decline_parts(inquiry: Inquiry, number: int) -> Declined | None:
    """Why an intent is not looked at part by part."""
    if number in inquiry.final:
        return Declined(Reason.WHOLE_IS_LARGER)
    if not parts_of(inquiry) and isinstance(inquiry.parts, Declined):
        return inquiry.parts
    return None


def _find_parts(inquiry: Inquiry) -> tuple[Slice, ...] | Declined:
    options, loaded = inquiry.options, inquiry.loaded
    if other := decline_other_engine(inquiry):
        return other
    if len(loaded.setup.workloads) < 2:
        return Declined(Reason.NO_PARTS)
    if options.find_all:
        return Declined(Reason.EVERY_VIOLATION)
    if options.controllers:
        return Declined(Reason.OWN_CONTROLLERS)
    if inquiry.watch.snapshots is not None:
        return Declined(Reason.CHECKPOINT)
    if options.max_states is not None and options.max_states <= options.effort.max_at_first:
        return Declined(Reason.SMALL_LIMIT)
    found = cut_by_relations(loaded)
    if len(found) < 2:
        return Declined(Reason.NO_PARTS)
    return found if all(len(one.intents) <= MAX_INTENTS for one in found) else Declined(Reason.MANY_INTENTS)


def limit_part(inquiry: Inquiry) -> VerifyOptions:
    """The options for one part: a bounded size, and the time that is left."""
    left = within(inquiry.options, inquiry.elapsed_s, is_relaxed=False)
    return replace(left, max_states=inquiry.options.effort.max_alone)


def add_parts(inquiry: Inquiry, spent: Sequence[Statistics], *, is_decided: bool) -> Statistics:
    """What all searches took; where all is decided, it does not matter that one was stopped."""
    total = inquiry.add(*spent)
    words = (*(word for word in total.reductions if word != ONE_BY_ONE), ONE_BY_ONE)
    return replace(total, stopped_by=None if is_decided else total.stopped_by, reductions=words)


def name_parts(parts: Sequence[Slice], number: int) -> str:
    """The parts that an intent speaks of, in words."""
    told = [part.workloads for part in parts if number in part.intents]
    return "each workload" if len(told) > 1 else ", ".join(told[0])
