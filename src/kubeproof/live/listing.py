"""Lists of objects, page by page, so that no answer has to fit into memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from kubeproof.errors import ClusterError
from kubeproof.live.client import Client, Refused
from kubeproof.live.resources import Resource

PAGE = 500  # objects, as kubectl asks for
EXPIRED = 410
RESTARTS = 5
Object = dict[str, Any]


class Page(NamedTuple):
    """Objects of one kind, and the version of the whole list that they belong to."""

    items: list[Object]
    version: str


class ListExpired(Exception):
    """A list took so long that the server forgot the version it began with; it has to begin again."""


def pages(client: Client, resource: Resource, namespace: str | None, size: int = PAGE) -> Iterator[Page]:
    """The pages of one consistent list; raises ListExpired when the server forgets it half-way."""
    token = ""
    while True:
        query = {"limit": str(size), **({"continue": token} if token else {})}
        try:
            answer = client.get(resource.path(namespace), query)
        except Refused as problem:
            if problem.status == EXPIRED and token:
                raise ListExpired from None
            raise _told(problem, resource, "list", namespace) from None
        metadata = answer.get("metadata")
        about = metadata if isinstance(metadata, dict) else {}
        items = answer.get("items") or []
        yield Page(
            [_typed(item, resource) for item in items if isinstance(item, dict)], str(about.get("resourceVersion", ""))
        )
        token = str(about.get("continue") or "")
        if not token:
            return


def listed(
    client: Client, resource: Resource, namespace: str | None, *, size: int, restart: Callable[[], None]
) -> Iterator[Page]:
    """The pages of a list; when it expires, `restart` is told to forget the pages so far, and it begins again."""
    for _ in range(RESTARTS):
        try:
            yield from pages(client, resource, namespace, size)
            return
        except ListExpired:
            restart()
    remedy = "Raise --page-size, or ask when the cluster is less busy"
    raise ClusterError(f"{client.name}: the list of {resource.plural} expired {RESTARTS} times before its end", remedy)


def one(client: Client, resource: Resource, name: str) -> Object:
    """A single object."""
    try:
        return _typed(client.get(f"{resource.path()}/{quote(name, safe='')}"), resource)
    except Refused as problem:
        raise _told(problem, resource, "get", None) from None


def _typed(item: Object, resource: Resource) -> Object:
    """Items of lists do not repeat what the list says of all of them."""
    return {**item, "apiVersion": resource.version, "kind": resource.kind}


def _told(problem: Refused, resource: Resource, verb: str, namespace: str | None) -> Refused:
    """The refusal with what was asked for."""
    where = f" in namespace {namespace}" if namespace is not None and resource.namespaced else ""
    asked = f"{verb} {resource.plural}{f'.{resource.group}' if resource.group else ''} (kind {resource.kind}){where}"
    if problem.status != 403:
        return Refused(problem.status, problem.reason, f"cannot {asked}: {problem.problem}", problem.remedy)
    inside = f" -n {namespace}" if namespace is not None else " -A"
    remedy = f"Grant it: kubeproof snapshot --rbac{inside} | kubectl apply -f -"
    return Refused(403, problem.reason, f"forbidden to {asked}: {problem.problem}", remedy)
