"""A cluster as it changes: lists first, then watch streams that are taken up again whenever they end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, Queue
from typing import Any

from kubeproof.errors import ClusterError, KubeproofError
from kubeproof.live.answers import REMEDY, parse_answer
from kubeproof.live.client import Client, Refused
from kubeproof.live.listing import EXPIRED, PAGE, RESTARTS, ListExpired, make_expired, pages
from kubeproof.live.resources import BY_KIND, WATCHED, Resource
from kubeproof.named_tuples import NamedTuple

Object = dict[str, Any]
LISTED, RELISTED, IDLE = (
    "LISTED",
    "RELISTED",
    "IDLE",
)  # beside the types of the API: a whole list, for the first time or again
WAIT_S = 300  # that the server is asked to keep a stream open
ATTEMPTS = 6  # in a row without an answer
QUEUE = 10_000


class Notice(NamedTuple):
    """One notification: ADDED, MODIFIED, DELETED or BOOKMARK with an object, LISTED or RELISTED with all of them."""

    kind: str
    type: str
    objects: tuple[Object, ...] = ()


def watch_all(
    client: Client,
    namespace: str | None,
    *,
    kinds: Sequence[str] = WATCHED,
    is_over: Callable[[], bool] = lambda: False,
    wait: Callable[[float], None] = time.sleep,
) -> Iterator[Notice]:
    """Notifications of all kinds, in the order in which they come; every kind begins with LISTED.

    A stream that ends is taken up where it ended. If the server has forgotten that point, everything is listed
    again: RELISTED, and what happened in between is lost. IDLE comes while nothing else does.
    """
    queue: Queue[Notice | KubeproofError | None] = Queue(QUEUE)
    stop = threading.Event()
    followers = [_Follower(client, BY_KIND[kind], namespace, queue, stop, wait) for kind in kinds]
    threads = [threading.Thread(target=one.run, daemon=True) for one in followers]
    for thread in threads:
        thread.start()
    try:
        while not is_over():
            try:
                found = queue.get(timeout=0.2)
            except Empty:
                yield Notice("", IDLE)
                continue
            if isinstance(found, KubeproofError):
                raise found
            if found is not None:
                yield found
    finally:
        stop.set()


class _Follower:
    """Follows one kind, in a thread of its own."""

    def __init__(
        self,
        client: Client,
        resource: Resource,
        namespace: str | None,
        queue: Queue[Notice | KubeproofError | None],
        stop: threading.Event,
        wait: Callable[[float], None],
    ) -> None:
        self._client, self._resource, self._namespace = client, resource, namespace
        self._queue, self._stop, self._wait = queue, stop, wait

    def run(self) -> None:
        """Until somebody stops it, or the cluster cannot be read any longer."""
        try:
            version = self._list(LISTED)
            while not self._stop.is_set():
                version = self._follow(version) or self._list(RELISTED)
        except KubeproofError as problem:
            self._queue.put(problem)
        except Exception as problem:
            self._queue.put(ClusterError(f"watching {self._resource.plural} failed: {problem}", "Start again"))

    def _list(self, what: str) -> str:
        """Lists everything, as often as a list expires half-way; gives the version to watch from."""
        for _ in range(RESTARTS):
            objects: list[Object] = []
            version = ""
            try:
                for page in pages(self._client.begin(), self._resource, self._namespace, PAGE):
                    objects += page.items
                    version = page.version
            except ListExpired:
                continue
            self._queue.put(Notice(self._resource.kind, what, tuple(objects)))
            return version
        raise make_expired(self._client, self._resource)

    def _follow(self, version: str) -> str | None:
        """Follows streams one after the other; gives None when the server has forgotten the version."""
        failures = 0
        while not self._stop.is_set():
            begun = version
            failed: ClusterError | None = None
            try:
                for line in self._lines(version):
                    found = self._pass_on(line)
                    if found is None:
                        return None
                    version = found or version
            except Refused as problem:
                if problem.status == EXPIRED:
                    return None
                if problem.status in (401, 403):
                    raise
                failed = problem
            except ClusterError as problem:
                failed = problem
            failures = failures + 1 if failed is not None or version == begun else 0
            if failed is not None and failures >= ATTEMPTS:
                told = f"{self._client.name} cannot be watched any longer: {failed.problem}"
                raise ClusterError(told, failed.remedy)
            if failures and not self._stop.is_set():
                self._wait(min(8.0, 0.25 * 2**failures))
        return version

    def _lines(self, version: str) -> Iterator[bytes]:
        query = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WAIT_S),
        }
        return self._client.lines(self._resource.path(self._namespace), query, WAIT_S + 30)

    def _pass_on(self, line: bytes) -> str | None:
        """Passes a notification on; gives its version, "" if it has none, None if the server has forgotten ours."""
        record = parse_answer(line, self._client.name)
        what, value = record.get("type"), record.get("object")
        if not isinstance(what, str) or not isinstance(value, dict):
            raise ClusterError(f"{self._client.name} sends a notification without an object", REMEDY)
        if what == "ERROR":
            return None if value.get("code") == EXPIRED else ""
        metadata = value.get("metadata")
        if not isinstance(metadata, dict) or value.get("kind", self._resource.kind) != self._resource.kind:
            raise ClusterError(f"{self._client.name} sends something else than {self._resource.plural}", REMEDY)
        whole = {**value, "apiVersion": self._resource.version, "kind": self._resource.kind}
        self._queue.put(Notice(self._resource.kind, what, (whole,)))
        return str(metadata.get("resourceVersion") or "")
