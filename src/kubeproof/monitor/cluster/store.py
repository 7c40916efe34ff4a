"""The cluster as it was last seen: objects by name, pods with their owners, and what a change did to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from kubeproof.cluster.kinds import (
    CRON_JOB,
    DECLARED,
    JOB,
    POD,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    ROLLED_OUT,
)
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.state import Phase
from kubeproof.monitor.cluster.change import (
    EVICTIONS,
    WRITTEN,
    Change,
    Key,
    Object,
    condition,
    items,
    mapping,
)
from kubeproof.values import dataclass

REVISED = tuple(kind.name for kind in DECLARED if kind.has_controller_revisions)
OWNERS = tuple(kind.name for kind in DECLARED if kind.is_held_through_others)
PANICS = ("KernelDeadlock", "KernelPanic")  # conditions that a problem detector sets
FINISHED = ("Succeeded", "Failed")


@dataclass(slots=True)
class Deed:
    """What happened to pods and sizes in one moment: (owner or pod, revision's owner, tag)."""

    tags: list[tuple[Key, int]] = field(default_factory=list)
    created: list[Key] = field(default_factory=list)
    is_external: bool = False
    is_gap: bool = False
    changed: bool = False


class Store:
    """What is known of the objects."""

    def __init__(self) -> None:
        self.objects: dict[Key, Object] = {}
        self._kinds: dict[str, dict[Key, Object]] = {}  # the same by kind: pods are many, and seldom asked for
        self.owners: dict[Key, Key] = {}  # of every object seen, also of those that are gone
        self.revisions: dict[Key, dict[str, int]] = {}  # of a workload: its templates, in the order seen
        self.hashes: dict[Key, dict[str, int]] = {}  # of a DaemonSet or StatefulSet: labels of pods -> revision
        self.replaced: set[Key] = set()  # Jobs that a CronJob deleted before they were done
        self.once: set[Key] = set()  # bare pods that were there, and that nobody asked to go
        self.drained: set[str] = set()  # nodes that somebody empties
        self.blind: set[Key] = set()  # changed, and nobody told how
        self.stale: set[Key] = set()  # not seen yet since the last relisting

    # -- changes --------------------------------------------------------------------------------

    def apply(self, change: Change, deed: Deed) -> None:
        """Takes one change in, and notes what it did."""
        match change.what:
            case "written":
                self._write(change, deed)
            case "bound":
                self._bind(change, deed)
            case "deleted":
                self._delete(change, deed)
            case "refused":
                self._refuse(change, deed)
            case "blind":
                self.blind.add(change.key)
                deed.is_gap = True
            case "lost":
                deed.is_gap = True
            case "relisted":
                self.stale |= {key for key in self.objects if change.key[0] in ("", key[0])}
                deed.is_gap |= bool(change.value)

    def finish_relisting(self, kind: str, deed: Deed) -> None:
        """What was not listed again is gone."""
        for key in [key for key in self.stale if kind in ("", key[0])]:
            self.stale.discard(key)
            self._write(Change(0, WRITTEN, key), deed)

    def _write(self, change: Change, deed: Deed) -> None:
        key, before = change.key, self.objects.get(change.key)
        self.blind.discard(key)
        self.stale.discard(key)
        if change.value is None:
            if before is not None:
                self._handle_gone(change, before, deed)
            return
        after = change.value
        if before is not None and _is_older(after, before):
            return
        if "metadata" not in after:  # a scale: only the size is told
            if before is None:
                self.blind.add(key)
                return
            after = {**before, "spec": {**mapping(before, "spec"), **after["spec"]}}
        self._note_owner(key, after)
        if key[0] == POD and before is not None and _uid(before) != _uid(after):
            self._handle_gone(change._replace(evictor=0), before, deed)
            before = None
        self.objects[key] = self._kinds.setdefault(key[0], {})[key] = after
        if key[0] == POD:
            self._pod_changed(change, before, after, deed)
        elif key[0] == "Node":
            self._node_changed(change, before, after, deed)
        else:
            self._workload_changed(change, before, after, deed)

    def _note_owner(self, key: Key, value: Object) -> None:
        for reference in items(mapping(value, "metadata"), "ownerReferences"):
            if reference.get("controller"):
                self.owners[key] = (str(reference.get("kind", "")), key[1], str(reference.get("name", "")))

    def _handle_gone(self, change: Change, before: Object, deed: Deed) -> None:
        key = change.key
        del self.objects[key], self._kinds[key[0]][key]
        deed.changed = True
        if key[0] == POD:
            if phase_of(before) is not None and not is_deleted(before):
                self._tag_deleted(key, before, change.evictor or _disruption(before), deed)
            if key in self.once and change.is_external:
                self.once.discard(key)
        elif key[0] == "Node":
            self.drained.discard(key[2])
            deed.is_external |= change.is_external
        else:
            deed.is_external |= change.is_external
            deed.tags.append((key, int(Tag.REPLICAS)))
            if key[0] == JOB and self.owners.get(key, ("",))[0] == CRON_JOB and not is_complete(before):
                self.replaced.add(key)

    # -- pods -----------------------------------------------------------------------------------

    def _pod_changed(self, change: Change, before: Object | None, after: Object, deed: Deed) -> None:
        key = change.key
        self._note_revision(key, after)
        if before is None:
            deed.changed = True
            tag = Tag.PODS | (Tag.PLACEMENT if node_of(after) else 0)
            if phase_of(after) is not None:
                deed.tags.append((key, int(tag)))
                deed.created.append(key)
            if key not in self.owners:
                self.once.add(key)
                deed.is_external |= change.is_external
            return
        if not node_of(before) and node_of(after):
            deed.tags.append((key, int(Tag.BIND | Tag.PLACEMENT)))
        if is_deleted(after) and not is_deleted(before) and phase_of(before) is not None:
            self._tag_deleted(key, before, change.evictor or _disruption(after), deed)
        elif api_phase(after) == "Failed" and api_phase(before) == "Pending" and node_of(before):
            deed.tags.append((key, int(Tag.PODS | Tag.PLACEMENT | Tag.REJECT)))
        deed.changed |= (phase_of(before), node_of(before)) != (phase_of(after), node_of(after))

    def _note_revision(self, key: Key, pod: Object) -> None:
        owner = self.owners.get(key)
        label = mapping(mapping(pod, "metadata"), "labels").get("controller-revision-hash")
        if owner is not None and owner[0] in REVISED and label is not None:
            known = self.hashes.setdefault(owner, {})
            known.setdefault(str(label), self.current_revision(owner))

    def _tag_deleted(self, key: Key, pod: Object, evictor: int, deed: Deed) -> None:
        tag = int(Tag.PODS | (Tag.PLACEMENT if node_of(pod) else 0))
        deed.tags.append((key, tag | (int(Tag.EVICT) | evictor if evictor else 0)))
        deed.changed = True

    def _bind(self, change: Change, deed: Deed) -> None:
        before = self.objects.get(change.key)
        if before is None:
            self.blind.add(change.key)
            deed.is_gap = True
            return
        after = {**before, "spec": {**mapping(before, "spec"), "nodeName": change.value}}
        self._write(change._replace(what=WRITTEN, value=after), deed)

    def _delete(self, change: Change, deed: Deed) -> None:
        before = self.objects.get(change.key)
        if before is None or is_deleted(before):
            return
        deed.is_external |= change.is_external and not change.evictor
        if change.is_external and change.evictor:
            self.drained |= {node_of(before)} & self._find_cordoned()
        if not node_of(before):
            self._handle_gone(change, before, deed)
            return
        metadata = {**mapping(before, "metadata"), "deletionTimestamp": str(change.time_us)}
        self._write(change._replace(what=WRITTEN, value={**before, "metadata": metadata}), deed)

    def _refuse(self, change: Change, deed: Deed) -> None:
        before = self.objects.get(change.key)
        if before is not None and change.is_external:
            fresh = {node_of(before)} & self._find_cordoned() - self.drained
            self.drained |= fresh
            deed.changed |= bool(fresh)

    def _find_cordoned(self) -> set[str]:
        return {key[2] for key, value in self.of_kind("Node") if is_cordoned(value)}

    # -- nodes and workloads --------------------------------------------------------------------

    def _node_changed(self, change: Change, before: Object | None, after: Object, deed: Deed) -> None:
        panics, panicked = _panics(after), before is not None and _panics(before)
        if before is not None and panics and not panicked:
            deed.tags.append((change.key, int(Tag.PANIC)))
        if not is_cordoned(after):
            self.drained.discard(change.key[2])
        same = before is not None and _node_signature(before) == _node_signature(after)
        deed.changed |= not same
        was_ready = before is None or condition(before, "Ready") in ("", "True")
        goes = was_ready != (condition(after, "Ready") in ("", "True"))
        # A failure comes from outside; a node that breaks down under its pods' load does not.
        fails = goes and not (panics or panicked)
        deed.is_external |= before is None or fails or (change.is_external and not same)

    def _workload_changed(self, change: Change, before: Object | None, after: Object, deed: Deed) -> None:
        key = change.key
        fresh = self._note_template(key, after)
        size, was = size_of(after), None if before is None else size_of(before)
        is_first = before is None and key[0] in (REPLICA_SET, REPLICATION_CONTROLLER)
        if is_first or (before is not None and size != was):
            deed.tags.append((key, int(Tag.REPLICAS)))
        same = before is not None and size == was and not fresh and is_complete(before) == is_complete(after)
        deed.changed |= not same
        deed.is_external |= change.is_external and not same

    def _note_template(self, key: Key, value: Object) -> bool:
        """Keeps the order of a workload's pod templates; True if this is another one than before."""
        if key[0] not in ROLLED_OUT:
            return False
        known = self.revisions.setdefault(key, {})
        text = template_text(value)
        is_new = text not in known
        known.setdefault(text, len(known))
        return is_new

    def current_revision(self, key: Key) -> int:
        """Which of its templates a workload asks for now."""
        value = self.objects.get(key)
        return 0 if value is None else self.revisions.get(key, {}).get(template_text(value), 0)

    def revision_of(self, key: Key) -> int:
        """The revision of a ReplicaSet, or of a pod of a DaemonSet or StatefulSet, among its owner's."""
        owner = self.owners.get(key)
        value = self.objects.get(key)
        if owner is None or value is None:
            return 0
        if key[0] == REPLICA_SET:
            return self.revisions.get(owner, {}).get(template_text(value), 0)
        label = mapping(mapping(value, "metadata"), "labels").get("controller-revision-hash")
        return self.hashes.get(owner, {}).get(str(label), 0)

    def root(self, key: Key) -> Key:
        """The first owner of all."""
        seen = {key}
        while (above := self.owners.get(key)) is not None and above not in seen:
            seen.add(above)
            key = above
        return key

    def of_kind(self, kind: str) -> Iterator[tuple[Key, Object]]:
        """Every object of a kind."""
        return iter(self._kinds.get(kind, {}).items())


def template_text(value: Object) -> str:
    """The pod template as text, without what ReplicaSets add to it."""
    template = mapping(mapping(value, "spec"), "template")
    metadata = mapping(template, "metadata")
    labels = {k: v for k, v in mapping(metadata, "labels").items() if k != "pod-template-hash"}
    return json.dumps([labels, metadata.get("annotations"), template.get("spec")], sort_keys=True)


def size_of(value: Object) -> Any:
    """How many pods a workload asks for."""
    spec = mapping(value, "spec")
    found = spec.get("parallelism", 1) if value.get("kind") == JOB else spec.get("replicas", 1)
    return int(found) if isinstance(found, int) or str(found).isdigit() else 1


def _is_older(one: Object, other: Object) -> bool:
    """True if an object was written before the other state of it: requests that end together are told in any order."""
    versions = [str(mapping(value, "metadata").get("resourceVersion", "")) for value in (one, other)]
    if _uid(one) != _uid(other) or not all(text.isascii() and text.isdigit() and len(text) < 20 for text in versions):
        return False
    return int(versions[0]) < int(versions[1])


def _uid(value: Object) -> str:
    return str(mapping(value, "metadata").get("uid", ""))


def node_of(pod: Object) -> str:
    """The node of a pod; empty if it has none."""
    return str(mapping(pod, "spec").get("nodeName") or "")


def is_deleted(pod: Object) -> bool:
    """True for a pod that is on its way out."""
    return bool(mapping(pod, "metadata").get("deletionTimestamp"))


def api_phase(pod: Object) -> str:
    """The phase that the status tells."""
    return str(mapping(pod, "status").get("phase") or "Pending")


def phase_of(pod: Object) -> int | None:
    """Where the pod stands; None once it has finished."""
    if api_phase(pod) in FINISHED:
        return None
    if is_deleted(pod):
        return int(Phase.TERMINATING)
    if api_phase(pod) != "Running":
        return int(Phase.STARTING)
    return int(Phase.READY if condition(pod, "Ready") == "True" else Phase.RUNNING)


def _disruption(pod: Object) -> int:
    """Who evicted a pod, as its condition DisruptionTarget says; 0 if it does not."""
    for one in items(mapping(pod, "status"), "conditions"):
        if one.get("type") == "DisruptionTarget" and one.get("status") == "True":
            return int(EVICTIONS.get(str(one.get("reason")), 0))
    return 0


def is_cordoned(node: Object) -> bool:
    """True for a node that takes no new pods."""
    return mapping(node, "spec").get("unschedulable") is True


def _panics(node: Object) -> bool:
    return any(condition(node, name) == "True" for name in PANICS)


def is_complete(job: Object) -> bool:
    """True for a Job that has completed."""
    return condition(job, "Complete") == "True"


def _node_signature(node: Object) -> object:
    taints = sorted(
        (str(t.get("key")), str(t.get("effect")), str(t.get("value", "")))
        for t in items(mapping(node, "spec"), "taints")
    )
    ready, panics = condition(node, "Ready"), tuple(condition(node, name) for name in PANICS)
    labels = tuple(sorted(mapping(mapping(node, "metadata"), "labels").items()))
    return taints, ready in ("", "True"), panics, is_cordoned(node), labels
