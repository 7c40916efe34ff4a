"""What a step by name may do to workloads, pods and time; what it may do to nodes is `NodeVerb`."""

from __future__ import annotations

from enum import StrEnum


class Verb(StrEnum):
    """The first word of a recorded action; saved results keep it."""

    SET_DESIRED = "set-desired"
    SET_REPLICAS = "set-replicas"
    SET_TEMPLATE = "set-template"
    SET_CURRENT = "set-current"
    SET_CONDITION = "set-condition"
    CREATE_OBJECT = "create-object"
    DELETE_OBJECT = "delete-object"
    CREATE = "create"
    ARRIVE = "arrive"
    KEEP = "keep"
    DELETE = "delete"
    TEND = "tend"
    EVICT = "evict"
    EVICT_PODS = "evict-pods"
    BIND = "bind"
    PREEMPT = "preempt"
    UNNOMINATE = "unnominate"
    CRASH = "crash"
    UNROUTE = "unroute"
    START = "start"
    READY = "ready"
    COMPLETE = "complete"
    FINISH = "finish"
    TICK = "tick"
    REST = "rest"
    REMEMBER = "remember"
