"""Changes as a patch for kustomize: for files that come from elsewhere, or that cannot be changed in place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from kubeproof.manifests.editing.operations import Operation, Plain, apply, holds, settle
from kubeproof.manifests.editing.written import Written
from kubeproof.manifests.yaml.writer import as_yaml, scalar


def kustomize_patch(
    changes: Sequence[tuple[Written, tuple[Operation, ...]]], added: Iterable[Plain], removed: Iterable[Written] = ()
) -> str:
    """What to add to a kustomization: JSON patches of the objects; new objects as documents of their own before it."""
    objects = "".join(f"{as_yaml(value)}---\n" for value in added)
    lines = [line for one, operations in changes for line in _patch(one, operations)]
    lines += [line for one in removed for line in _delete(one)]
    return objects + "\n".join(["patches:", *lines, ""]) if lines else objects.removesuffix("---\n")


def _patch(one: Written, operations: tuple[Operation, ...]) -> Iterator[str]:
    group, _, version = one.api_version.rpartition("/")
    parts = [("group", group), ("version", version), ("kind", one.kind), ("name", one.name)]
    parts += [("namespace", one.namespace)]
    told = ", ".join(f"{key}: {scalar(text)}" for key, text in parts if text)
    yield f"- target: {{{told}}}"
    yield "  patch: |-"
    value = one.value
    for operation in operations:
        done = settle(value, operation)
        verb = "remove" if done.is_removed else "replace" if holds(value, done.path) else "add"
        body = {"op": verb, "path": _pointer(done)}
        yield f"    - {json.dumps(body if done.is_removed else body | {'value': done.value}, ensure_ascii=True)}"
        value = apply(value, (done,))


def _delete(one: Written) -> Iterator[str]:
    """A strategic patch that takes the object out."""
    metadata = {"name": one.name} | ({"namespace": one.namespace} if one.namespace else {})
    body = {"$patch": "delete", "apiVersion": one.api_version, "kind": one.kind, "metadata": metadata}
    yield "- patch: |-"
    yield f"    {json.dumps(body, ensure_ascii=True)}"


def _pointer(operation: Operation) -> str:
    """RFC 6901."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in operation.path)
