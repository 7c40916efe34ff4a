"""Lists of objects, page by page, so that no answer has to fit into memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from kubeproof.errors import ClusterError
from kubeproof.live.answers import REMEDY, show
from kubeproof.live.client import Client, Refused
from kubeproof.live.resources import Resource
from kubeproof.manifests.yaml.guard import Bounds
from kubeproof.named_tuples import NamedTuple

PAGE = 500  # objects, as kubectl asks for
EXPIRED = 410
RESTARTS = 5
MOST_OBJECTS = Bounds().documents
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
    seen: set[str] = set()
    count = 0
    while True:
        query = {"limit": str(size), **({"continue": token} if token else {})}
        try:
            answer = client.get(resource.path(namespace), query)
        except Refused as problem:
            if problem.status == EXPIRED and token:
                raise ListExpired from None
            raise _explain_refusal(problem, resource, "list", namespace) from None
        metadata = answer.get("metadata")
        about = metadata if isinstance(metadata, dict) else {}
        items = _items(client, answer, resource)
        count += len(items)
        if count > MOST_OBJECTS:
            told = f"{client.name}: more than {MOST_OBJECTS:,} {resource.plural}"
            raise ClusterError(told, "Read one namespace with -n")
        yield Page(items, str(about.get("resourceVersion", "")))
        token = str(about.get("continue") or "")
        if not token:
            return
        if token in seen:
            raise ClusterError(f"{client.name}: the list of {resource.plural} goes round in circles", REMEDY)
        seen.add(token)


def list_pages(
    client: Client, resource: Resource, namespace: str | None, *, size: int, restart: Callable[[], None]
) -> Iterator[Page]:
    """The pages of a list; when it expires, `restart` is told to forget the pages so far, and it begins again."""
    for _ in range(RESTARTS):
        try:
            yield from pages(client, resource, namespace, size)
            return
        except ListExpired:
            restart()
    raise make_expired(client, resource)


def make_expired(client: Client, resource: Resource) -> ClusterError:
    """A list that the server forgot again and again."""
    problem = f"{client.name}: the list of {resource.plural} expired {RESTARTS} times before its end"
    return ClusterError(problem, "Raise --page-size, or ask when the cluster is less busy")


def one(client: Client, resource: Resource, name: str) -> Object:
    """A single object."""
    try:
        return _add_type(client.get(f"{resource.path()}/{quote(name, safe='')}"), resource)
    except Refused as problem:
        raise _explain_refusal(problem, resource, "get", None) from None


def _items(client: Client, answer: Object, resource: Resource) -> list[Object]:
    """The objects of a list; an answer that is no list of this kind is refused, an empty list is empty."""
    kind = answer.get("kind", "List")
    items = answer.get("items", False)
    if kind not in ("List", f"{resource.kind}List") or not (items is None or isinstance(items, list)):
        told = f"a {show(kind)}" if items is False else f"items: {show(items)}"
        raise ClusterError(f"{client.name} sends {told} instead of a list of {resource.plural}", REMEDY)
    return [_object(client, item, resource) for item in items or ()]


def _object(client: Client, item: object, resource: Resource) -> Object:
    kind = item.get("kind", resource.kind) if isinstance(item, dict) else show(item)
    if not isinstance(item, dict) or kind != resource.kind:
        raise ClusterError(f"{client.name} sends {show(kind)!r} among the {resource.plural}", REMEDY)
    return _add_type(item, resource)


def _add_type(item: Object, resource: Resource) -> Object:
    """Items of lists do not repeat what the list says of all of them."""
    return {**item, "apiVersion": resource.version, "kind": resource.kind}


def _explain_refusal(problem: Refused, resource: Resource, verb: str, namespace: str | None) -> Refused:
    """The refusal with what was asked for."""
    where = f" in namespace {namespace}" if namespace is not None and resource.namespaced else ""
    asked = f"{verb} {resource.plural}{f'.{resource.group}' if resource.group else ''} (kind {resource.kind}){where}"
    if problem.status != 403:
        return Refused(problem.status, problem.reason, f"cannot {asked}: {problem.problem}", problem.remedy)
    inside = f" -n {namespace}" if namespace is not None else " -A"
    remedy = f"Grant it: kubeproof snapshot --rbac{inside} | kubectl apply -f -"
    return Refused(403, problem.reason, f"forbidden to {asked}: {problem.problem}", remedy)
