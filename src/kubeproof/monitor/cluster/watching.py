"""Changes as watch streams tell them: whole objects, but not who changed them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubeproof.cluster.kinds import JOB, REPLICA_SET
from kubeproof.errors import EventError
from kubeproof.monitor.cluster.change import KINDS, LOST, TIME, WRITTEN, Change, Key, Object, items, key_of, mapping
from kubeproof.monitor.cluster.store import is_cordoned, size_of, template_text
from kubeproof.monitor.readers.json_stream import values_of
from kubeproof.monitor.readers.kube import newest, unpack
from kubeproof.monitor.readers.losses import Lost, refuse

GONE = 410
_LOOPS = ("kube-controller-manager", "horizontal-pod-autoscaler", "vpa", "argocd", "flux", "keda", "cluster-autoscaler")


def changes_of_watch(
    lines: Iterable[str], file: str, lost: Lost = refuse, latest_us: int | None = None
) -> Iterator[Change]:
    """The changes of a recorded stream, in its order; the time is the newest that an object tells of.

    Objects tell of times long past, so that only what lies in the future, after `latest_us`, is known to be wrong.
    """
    reader, last, problems = WatchReader(), 0, list[EventError]()
    for _, record in values_of(lines, file, problems.append):
        yield from _losses(problems, last, lost)
        for what, value in unpack(record):
            last = max(last, newest(value, latest_us))
            yield from reader.changes(what, value, last)
    yield from _losses(problems, last, lost)


def _losses(problems: list[EventError], last: int, lost: Lost) -> Iterator[Change]:
    """What could not be read, told in its place."""
    for problem in problems:
        lost(problem)
        yield Change(last, LOST)
    problems.clear()


class WatchReader:
    """Remembers what it has seen, to tell what comes from outside."""

    def __init__(self) -> None:
        self._seen: dict[Key, tuple[object, ...]] = {}

    def changes(self, what: str, value: Object, time_us: int) -> Iterator[Change]:
        """What one notification tells."""
        key = key_of(value)
        if what == "ERROR":
            yield Change(time_us, LOST)
        elif what == "BOOKMARK" or key[0] not in KINDS:
            yield Change(time_us, TIME)
        elif what == "DELETED":
            self._seen.pop(key, None)
            yield Change(time_us, WRITTEN, key, is_external=key[0] not in ("Pod", JOB, REPLICA_SET))
        else:
            yield Change(time_us, WRITTEN, key, value, self._is_external(key, value))

    def _is_external(self, key: Key, value: Object) -> bool:
        """True for what people do: another template, a cordon, a size that no known loop wrote."""
        if key[0] in ("Pod", JOB, REPLICA_SET):
            return False
        sign: tuple[object, ...] = (is_cordoned(value),) if key[0] == "Node" else (template_text(value), size_of(value))
        before = self._seen.get(key)
        self._seen[key] = sign
        if before is None or before == sign:
            return before is None
        return before[0] != sign[0] or not _is_by_loop(value)


def _is_by_loop(value: Object) -> bool:
    """True if the last who wrote the size is a control loop; without records of that, too: autoscalers write most."""
    writers = [
        (str(one.get("time", "")), str(one.get("manager", "")))
        for one in items(mapping(value, "metadata"), "managedFields")
        if "f:replicas" in mapping(mapping(one, "fieldsV1"), "f:spec")
    ]
    return not writers or any(name in max(writers)[1] for name in _LOOPS)
