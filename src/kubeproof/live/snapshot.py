"""A cluster as manifests: what `kubeproof snapshot` writes and `verify --live` reads."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import IO

from kubeproof.errors import ClusterError
from kubeproof.live.anonymize import Anonymizer
from kubeproof.live.client import Client, Refused
from kubeproof.live.keep import READERS, Reader, keep
from kubeproof.live.listing import PAGE, Object, list_pages, one
from kubeproof.live.resources import BY_KIND, RESOURCES, Resource
from kubeproof.manifests.kinds.catalogue import ALONE
from kubeproof.manifests.yaml.guard import Bounds
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.writer import as_yaml
from kubeproof.values import dataclass

FORBIDDEN, NOT_SERVED = 403, 404
_CHUNK = 2**20
MOST_BYTES = Bounds().input_bytes


@dataclass(frozen=True, slots=True)
class SnapshotOptions:
    """What is read, and how it is written."""

    namespace: str | None = None  # None: all
    anonymize: bool = False
    page: int = PAGE
    readers: tuple[Reader, ...] = READERS  # what none of them reads is left out


class Spool:
    """Text on disk that can be taken back to an earlier length: a list that expires is written again."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def add(self, kept: Object) -> None:
        self.remark(f"---\n{as_yaml(kept)}")

    def remark(self, text: str) -> None:
        if self._file.tell() > MOST_BYTES:
            problem = f"the cluster takes more than {MOST_BYTES:,} bytes, which nothing here can read"
            raise ClusterError(problem, "Read one namespace with -n")
        self._file.write(text.encode())

    def length(self) -> int:
        return self._file.tell()

    def cut(self, length: int) -> None:
        """Forgets everything after the length."""
        self._file.seek(length)
        self._file.truncate()

    def chunks(self) -> Iterator[bytes]:
        """Everything, piece by piece."""
        self._file.seek(0)
        while chunk := self._file.read(_CHUNK):
            yield chunk


def take_snapshot(client: Client, options: SnapshotOptions, write: Callable[[bytes], object]) -> dict[str, int]:
    """Writes the cluster once all of it was read, and tells how many objects of each kind there were.

    Memory holds one page at a time; nothing is written when a kind cannot be read.
    """
    with tempfile.TemporaryFile() as file:
        spool = Spool(file)
        counts = _collect(client.begin(), options, spool)
        for chunk in spool.chunks():
            write(chunk)
    return counts


def read_cluster(client: Client, options: SnapshotOptions) -> list[Object]:
    """The objects themselves, as a snapshot has them, for whoever reads them here and now."""
    kept = _Kept()
    _collect(client.begin(), options, kept)
    return kept.objects


class _Kept:
    """Objects in memory that can be taken back to an earlier number of them."""

    def __init__(self) -> None:
        self.objects: list[Object] = []

    def add(self, kept: Object) -> None:
        self.objects.append(kept)

    def remark(self, text: str) -> None:
        """Comments are for readers of the text."""

    def length(self) -> int:
        return len(self.objects)

    def cut(self, length: int) -> None:
        """Forgets everything after so many."""
        del self.objects[length:]


def _collect(client: Client, options: SnapshotOptions, spool: Spool | _Kept) -> dict[str, int]:
    spool.remark(_heading(options))
    rename = Anonymizer() if options.anonymize else None
    counts: dict[str, int] = {}
    refused: list[Refused] = []
    for resource in RESOURCES:
        try:
            counts[resource.kind] = _add(client, resource, options, spool, rename)
        except Refused as problem:
            if problem.status == NOT_SERVED and resource.is_optional:
                spool.remark(f"# This cluster does not serve {resource.version} {resource.kind}.\n")
            elif problem.status == FORBIDDEN:
                refused.append(problem)
            elif problem.status == NOT_SERVED:
                raise _missing(client, resource, options, problem) from None
            else:
                raise
    if refused:
        raise _all_of(refused)
    return counts


def _missing(client: Client, resource: Resource, options: SnapshotOptions, problem: Refused) -> ClusterError:
    """Without these kinds a verdict would be about another cluster than this one."""
    if resource is BY_KIND["Namespace"] and options.namespace is not None:
        return ClusterError(
            f"{client.name} has no namespace {printable(options.namespace)!r}", "Name one with -n, or -A"
        )
    return ClusterError(problem.problem, f"Check the server's address; {resource.version} is needed")


def _all_of(refused: list[Refused]) -> ClusterError:
    """One error that names every kind that was refused."""
    return ClusterError("; ".join(problem.problem for problem in refused), refused[0].remedy)


def _heading(options: SnapshotOptions) -> str:
    space = options.namespace
    if space is None:
        return "# A cluster, read by kubeproof snapshot.\n"
    shown = "one namespace" if options.anonymize else f"namespace {printable(space)}"
    return f"# A cluster, read by kubeproof snapshot: {shown} only. Pods of others take room on its nodes, too.\n"


def _add(
    client: Client, resource: Resource, options: SnapshotOptions, spool: Spool | _Kept, rename: Anonymizer | None
) -> int:
    begun, count = spool.length(), 0

    def forget() -> None:
        nonlocal count
        spool.cut(begun)
        count = 0

    for item in _items(client, resource, options, forget):
        kept = keep(item, options.readers, hides_unknown=options.anonymize)
        spool.add(rename(kept) if rename is not None else kept)
        count += 1
    return count


def _items(
    client: Client, resource: Resource, options: SnapshotOptions, forget: Callable[[], None]
) -> Iterator[Object]:
    if resource is BY_KIND["Namespace"] and options.namespace is not None:
        yield _mark(one(client, resource, options.namespace))
        return
    for page in list_pages(client, resource, options.namespace, size=options.page, restart=forget):
        yield from page.items


def _mark(namespace: Object) -> Object:
    """The Namespace with a note for whoever reads the snapshot: it is not all there is on the nodes."""
    metadata = {**namespace["metadata"]} if isinstance(namespace.get("metadata"), dict) else {}
    return {
        **namespace,
        "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), ALONE: "true"}},
    }
