"""The parts of an input whose workloads meet on nodes only, looked at one by one where the whole is too large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.coarser import within
from kubeproof.verify.proofs.slicing import Slice, cut_by_relations
from kubeproof.verify.result import Statistics
from kubeproof.verify.strategies.contract import MAX_INTENTS
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.reference import decline_other_engine

if TYPE_CHECKING:
    from kubeproof.verify.proofs.crowd.proving import Input

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
    found = _recall_related(inquiry)
    if isinstance(found, Declined):
        return found
    if len(found) < 2:
        return Declined(Reason.NO_PARTS)
    return found if all(len(one.intents) <= MAX_INTENTS for one in found) else Declined(Reason.MANY_INTENTS)


class LonePods(NamedTuple):
    """What may be proved by following one pod of each workload, and why nothing else is."""

    parts: tuple[Slice, ...] = ()
    intents: frozenset[int] = frozenset()
    why: Declined = Declined(Reason.PODS_MEET)


def lone_pods_of(inquiry: Inquiry) -> LonePods:
    """The parts that can be proved pod by pod, and the intents that may follow."""
    if inquiry.lone_pods is None:
        inquiry.lone_pods = _find_lone_pods(inquiry)
    return inquiry.lone_pods


def _find_lone_pods(inquiry: Inquiry) -> LonePods:
    found = _recall_related(inquiry)
    if isinstance(found, Declined):
        return LonePods(why=found)
    from kubeproof.verify.proofs.crowd.pod_by_pod import find_needs, follow_one_pod

    following = [(part, follow_one_pod(part) is not None) for part in found]
    numbers = range(len(inquiry.plan.monitors))
    provable = {
        number
        for number in numbers
        if all(lives and find_needs(part, (number,)) for part, lives in following if number in part.intents)
        and any(number in part.intents for part in found)
    }
    return LonePods(tuple(part for part, lives in following if lives), frozenset(provable))


def _recall_related(inquiry: Inquiry) -> tuple[Slice, ...] | Declined:
    """The parts of an input whose workloads meet on nodes only; all of it if that is one."""
    if inquiry.related is None:
        inquiry.related = _find_related(inquiry)
    return inquiry.related


def _find_related(inquiry: Inquiry) -> tuple[Slice, ...] | Declined:
    options, loaded = inquiry.options, inquiry.loaded
    if other := decline_other_engine(inquiry):
        return other
    if options.find_all:
        return Declined(Reason.EVERY_VIOLATION)
    if options.controllers:
        return Declined(Reason.OWN_CONTROLLERS)
    if inquiry.watch.snapshots is not None:
        return Declined(Reason.CHECKPOINT)
    if options.max_states is not None and options.max_states <= options.effort.max_at_first:
        return Declined(Reason.SMALL_LIMIT)
    return cut_by_relations(loaded) or Declined(Reason.NO_PARTS)


def share_input(inquiry: Inquiry) -> Input:
    """What proofs of all parts have in common, worked out once."""
    if inquiry.shared is None:
        from kubeproof.verify.proofs.crowd.proving import Input  # only large inputs need it

        inquiry.shared = Input(inquiry.loaded)
    return inquiry.shared


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
