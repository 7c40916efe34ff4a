"""What happens to a node itself: one declaration per verb, with what it changes and all that is said of it.

What becomes of a node: `kubeproof.model.node_conditions`, and of one by name `kubeproof.model.by_name.node`.
"""

from __future__ import annotations

from enum import StrEnum

from kubeproof.cluster.loops.footprint import Clocks, Writes
from kubeproof.cluster.loops.tags import Tag
from kubeproof.named_tuples import NamedTuple


class Meaning(NamedTuple):
    """What a verb means to those who know no verb by name."""

    writes: Writes
    sentence: str  # of a step: after who acts
    does: str  # what somebody does who may ever decide it: "cordons nodes"
    tells: str  # of the node in a simulated run: after its name
    clocks: Clocks = Clocks(0)  # that it starts, or waits for
    tag: Tag = Tag(0)


class NodeVerb(StrEnum):
    """What happens to a node itself: the word that traces and saved results keep, and what it means."""

    meaning: Meaning

    def __new__(cls, word: str, meaning: Meaning | None = None) -> NodeVerb:
        """The verb; it is found again by its word alone."""
        assert meaning is not None, word
        verb = str.__new__(cls, word)
        verb._value_ = word
        verb.meaning = meaning
        return verb

    # kubelet stops
    FAIL = (
        "fail",
        Meaning(
            writes=Writes.FAILURES,
            clocks=Clocks.SILENCE,
            sentence="node {node} fails: its kubelet falls silent",
            does="stops nodes",
            tells="fails",
        ),
    )
    # the same, because the node is overloaded
    PANIC = (
        "panic",
        Meaning(
            writes=Writes.FAILURES,
            clocks=Clocks.SILENCE,
            tag=Tag.PANIC,
            sentence="node {node} panics: its pods use more than it bears",
            does="stops overloaded nodes",
            tells="fails of overload",
        ),
    )
    # the same, and it never comes back
    FAIL_FOR_GOOD = (
        "fail-for-good",
        Meaning(
            writes=Writes.FAILURES,
            clocks=Clocks.SILENCE,
            sentence="node {node} fails for good: its kubelet falls silent",
            does="stops nodes for good",
            tells="fails for good",
        ),
    )
    # kubelet is back
    RECOVER = (
        "recover",
        Meaning(
            writes=Writes.FAILURES,
            clocks=Clocks.SILENCE,
            sentence="node {node} recovers",
            does="brings nodes back",
            tells="is back",
        ),
    )
    # node controller: Ready becomes Unknown, pods not ready, NoSchedule taint
    NOTICE = (
        "notice",
        Meaning(
            writes=Writes.CONDITIONS,
            clocks=Clocks.SILENCE,
            sentence="marks node {node} Ready=Unknown, its pods not ready, and taints it unreachable:NoSchedule",
            does="notices silent nodes",
            tells="is found silent",
        ),
    )
    # node controller: NoExecute taint, eviction clocks start
    TAINT = (
        "taint",
        Meaning(
            writes=Writes.CONDITIONS,
            clocks=Clocks.SILENCE,
            sentence="taints node {node} unreachable:NoExecute",
            does="taints nodes",
            tells="is tainted, its pods will be evicted",
        ),
    )
    # the same, and the next one of its zone is not tainted for 10 s
    TAINT_SLOWLY = (
        "taint-slowly",
        Meaning(
            writes=Writes.CONDITIONS,
            clocks=Clocks.SILENCE,
            sentence="taints node {node} unreachable:NoExecute; the next one of its zone not before 10 s",
            does="taints nodes slowly",
            tells="is tainted, its pods will be evicted",
        ),
    )
    # the same, for 100 s
    TAINT_VERY_SLOWLY = (
        "taint-very-slowly",
        Meaning(
            writes=Writes.CONDITIONS,
            clocks=Clocks.SILENCE,
            sentence="taints node {node} unreachable:NoExecute; the next one of its zone not before 100 s",
            does="taints nodes slowly",
            tells="is tainted, its pods will be evicted",
        ),
    )
    # node controller: NoExecute taint gone (all zones down), eviction clocks stop
    UNTAINT = (
        "untaint",
        Meaning(
            writes=Writes.CONDITIONS,
            clocks=Clocks.SILENCE,
            sentence="removes the NoExecute taint from node {node}: all zones are down",
            does="removes taints",
            tells="loses its taint: all zones are down",
        ),
    )
    # node controller: Ready is True again, taints gone, pods ready
    WELCOME = (
        "welcome",
        Meaning(
            writes=Writes.CONDITIONS,
            clocks=Clocks.SILENCE,
            sentence="marks node {node} Ready again and removes its taints",
            does="notices nodes that are back",
            tells="is ready again",
        ),
    )
    CORDON = (
        "cordon",
        Meaning(writes=Writes.CORDONS, sentence="cordons node {node}", does="cordons nodes", tells="is cordoned"),
    )
    UNCORDON = (
        "uncordon",
        Meaning(writes=Writes.CORDONS, sentence="uncordons node {node}", does="uncordons nodes", tells="is uncordoned"),
    )
    # an operator cordons the node and begins to evict its pods; it stays cordoned
    DRAIN = (
        "drain",
        Meaning(
            writes=Writes.DRAINS,
            sentence="node {node} is cordoned and its drain begins",
            does="begins drains",
            tells="is being drained",
        ),
    )
    # the same, uncordoned when it is empty
    DRAIN_UNCORDON = (
        "drain-uncordon",
        Meaning(
            writes=Writes.DRAINS,
            sentence="node {node} is cordoned and its drain begins",
            does="begins drains",
            tells="is being drained",
        ),
    )
    # the same, then down for a while, then back and uncordoned
    MAINTAIN = (
        "maintain",
        Meaning(
            writes=Writes.DRAINS,
            clocks=Clocks.MAINTENANCE,
            sentence="node {node} is cordoned and drained for maintenance",
            does="begins maintenance",
            tells="is being drained for maintenance",
        ),
    )
    # the same, deleted when it is empty
    RETIRE = (
        "retire",
        Meaning(
            writes=Writes.DRAINS,
            sentence="node {node} is cordoned and drained, in order to delete it",
            does="drains nodes to delete them",
            tells="is being drained, to be deleted",
        ),
    )
    # the node is empty: what comes next
    DRAINED = (
        "drained",
        Meaning(
            writes=Writes.DRAINS,
            sentence="node {node} is empty: the drain is done",
            does="ends drains",
            tells="is empty",
        ),
    )
    # a node that was not there is there, ready
    JOIN = (
        "join",
        Meaning(
            writes=Writes.ARRIVALS, sentence="node {node} joins the cluster", does="lets nodes join", tells="joins"
        ),
    )
    # back from maintenance, uncordoned
    RETURN = (
        "return",
        Meaning(
            writes=Writes.DRAINS,
            clocks=Clocks.MAINTENANCE,
            sentence="node {node} is back from maintenance and uncordoned",
            does="ends maintenance",
            tells="is back from maintenance",
        ),
    )
    # kubelet stops together with those of its zone
    FAIL_ZONE = (
        "fail-with-zone",
        Meaning(
            writes=Writes.FAILURES | Writes.OUTAGES,
            clocks=Clocks.SILENCE,
            sentence="node {node} fails with its zone: its kubelet falls silent",
            does="stops zones",
            tells="fails with its zone",
        ),
    )
    # cluster autoscaler: a node is asked for, and will be there after a while
    PROVISION = (
        "provision",
        Meaning(
            writes=Writes.ARRIVALS, sentence="asks for a new node, {node}", does="asks for nodes", tells="is asked for"
        ),
    )
    # a node that was asked for does not come
    FORSAKE = (
        "forsake",
        Meaning(
            writes=Writes.ARRIVALS,
            sentence="node {node} does not come: its zone is down",
            does="loses nodes that were asked for",
            tells="will not come",
        ),
    )
    # cluster autoscaler: unneeded from now on
    MARK_SPARE = (
        "mark-spare",
        Meaning(
            writes=Writes.CONDITIONS,
            sentence="finds node {node} unneeded",
            does="finds nodes unneeded",
            tells="is found unneeded",
        ),
    )
    # cluster autoscaler: not unneeded any longer
    MARK_NEEDED = (
        "mark-needed",
        Meaning(
            writes=Writes.CONDITIONS,
            sentence="finds node {node} needed again",
            does="finds nodes needed again",
            tells="is found needed again",
        ),
    )
    # cluster autoscaler: cordoned, its pods are evicted, then it is deleted
    EVACUATE = (
        "evacuate",
        Meaning(
            writes=Writes.DRAINS,
            sentence="cordons node {node} and begins to evict its pods, in order to delete it",
            does="empties nodes",
            tells="is being emptied, to be deleted",
        ),
    )
    # the node object is deleted, and with it what is left there
    REMOVE = (
        "remove",
        Meaning(writes=Writes.DEPARTURES, sentence="deletes node {node}", does="deletes nodes", tells="is deleted"),
    )
    # cluster autoscaler gives up on emptying the node: uncordoned
    SPARE = (
        "spare",
        Meaning(
            writes=Writes.DRAINS,
            sentence="gives up on emptying node {node} and uncordons it",
            does="gives up on emptying nodes",
            tells="is kept after all",
        ),
    )


FAIL = NodeVerb.FAIL
PANIC = NodeVerb.PANIC
FAIL_FOR_GOOD = NodeVerb.FAIL_FOR_GOOD
RECOVER = NodeVerb.RECOVER
NOTICE = NodeVerb.NOTICE
TAINT = NodeVerb.TAINT
TAINT_SLOWLY = NodeVerb.TAINT_SLOWLY
TAINT_VERY_SLOWLY = NodeVerb.TAINT_VERY_SLOWLY
UNTAINT = NodeVerb.UNTAINT
WELCOME = NodeVerb.WELCOME
CORDON = NodeVerb.CORDON
UNCORDON = NodeVerb.UNCORDON
DRAIN = NodeVerb.DRAIN
DRAIN_UNCORDON = NodeVerb.DRAIN_UNCORDON
MAINTAIN = NodeVerb.MAINTAIN
RETIRE = NodeVerb.RETIRE
DRAINED = NodeVerb.DRAINED
JOIN = NodeVerb.JOIN
RETURN = NodeVerb.RETURN
FAIL_ZONE = NodeVerb.FAIL_ZONE
PROVISION = NodeVerb.PROVISION
FORSAKE = NodeVerb.FORSAKE
MARK_SPARE = NodeVerb.MARK_SPARE
MARK_NEEDED = NodeVerb.MARK_NEEDED
EVACUATE = NodeVerb.EVACUATE
REMOVE = NodeVerb.REMOVE
SPARE = NodeVerb.SPARE
