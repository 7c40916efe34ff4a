"""Which tags the actions of a step have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from kubeproof.cluster.loops.control import (
    Action,
    Advance,
    Arrive,
    Bind,
    BindPinned,
    Crash,
    CreateObject,
    CreatePods,
    Delete,
    DeleteObject,
    DeleteUnbound,
    EvictDue,
    EvictPods,
    KeepNode,
    NodeChange,
    NoteCompleted,
    NoteFailed,
    Preempt,
    Remember,
    SetCondition,
    SetCurrent,
    SetDesired,
    SetReplicas,
    SetTemplate,
    TendJob,
    Tick,
    Unnominate,
    Unroute,
)
from kubeproof.cluster.loops.tags import Tag, tag_of
from kubeproof.values import complete


def tags_of(actions: tuple[Action, ...]) -> int:
    """The tags of a step, overall and per workload."""
    tags = int(Tag.STEP)
    for action in actions:
        tag = _TAGS.get(type(action), 0)
        if isinstance(action, Advance) and action.rejected:
            tag = Tag.PODS | Tag.PLACEMENT | Tag.REJECT
        if isinstance(action, Delete) and action.is_eviction:
            tag |= Tag.EVICT | Tag.BY_DRAIN
        if isinstance(action, TendJob) and action.losses:
            tag = Tag.PODS | Tag.PLACEMENT
        if isinstance(action, NodeChange):
            tags |= action.verb.meaning.tag
        if isinstance(action, Preempt):
            preempted = Tag.PODS | Tag.PLACEMENT | Tag.EVICT | Tag.BY_PREEMPTION
            for workload, _ in action.losses:
                tags |= preempted | tag_of(workload, preempted)
        if isinstance(action, EvictPods):
            evicted = Tag.PODS | Tag.PLACEMENT | Tag.EVICT | action.by
            for workload, *_ in action.losses:
                tags |= evicted | tag_of(workload, evicted)
        if tag:
            tags |= tag | tag_of(action.workload, tag)  # type: ignore[union-attr]
    return tags


_SEEN_CLOSER = (Advance, EvictPods, NodeChange, Preempt, TendJob)  # what they do depends on more than their type
_UNTAGGED = (
    *(SetTemplate, SetCurrent, SetCondition, NoteFailed, NoteCompleted, CreateObject, Unnominate, Crash, Unroute),
    *(Remember, Tick),
)
_TAGS: Mapping[type, int] = complete(
    get_args(Action),
    {
        **dict.fromkeys((*_SEEN_CLOSER, *_UNTAGGED), 0),
        SetDesired: Tag.REPLICAS,
        SetReplicas: Tag.REPLICAS,
        DeleteObject: Tag.REPLICAS,
        CreatePods: Tag.PODS,
        DeleteUnbound: Tag.PODS,
        Bind: Tag.PLACEMENT | Tag.BIND,
        BindPinned: Tag.PLACEMENT | Tag.BIND,
        KeepNode: Tag.PODS | Tag.PLACEMENT,
        Arrive: Tag.PODS | Tag.PLACEMENT,
        Delete: Tag.PODS | Tag.PLACEMENT,
        EvictDue: Tag.PODS | Tag.PLACEMENT | Tag.EVICT | Tag.BY_TAINT,
    },
)
