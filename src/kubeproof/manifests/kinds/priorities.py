"""PriorityClasses, scheduling.k8s.io/v1, and the admission that gives pods their priority.

Mirrors the Priority admission plugin (`plugin/pkg/admission/priority`, same from v1.26 to v1.37): a pod that names a
class has its value; one that names none has that of the global default, of several the lowest; otherwise 0. A
value that the pod states itself must be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from kubeproof.cluster.objects import Workload
from kubeproof.cluster.steering.policies import PREEMPT_LOWER, PREEMPT_NEVER, PriorityClass
from kubeproof.cluster.steering.priorities import LARGEST_OF_USERS, SYSTEM_CLASSES
from kubeproof.errors import ManifestError
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.loaded import Omission
from kubeproof.manifests.validation.deciding import ALL, find_touched
from kubeproof.manifests.yaml.fields import LARGEST_INT32, Fields, suggestion
from kubeproof.manifests.yaml.printable import printable

_RESERVED = "system-"
NO_CLASS = PriorityClass("", 0)


def read_priority_class(fields: Fields) -> PriorityClass:
    """The class; names that begin with `system-` are the system's own, others reach up to 10⁹."""
    name = read_metadata(fields, namespaced=False).name
    value = fields.integer("value", least=-LARGEST_INT32 - 1)
    found = PriorityClass(
        name,
        value or 0,
        fields.boolean("globalDefault") or False,
        fields.word("preemptionPolicy", (PREEMPT_LOWER, PREEMPT_NEVER), PREEMPT_LOWER),
        fields.source,
    )
    if name.startswith(_RESERVED):
        _check_system_class(fields, found)
    elif found.value > LARGEST_OF_USERS:
        fields.fail("value", f"is {found.value}", remedy=f"It is at most {LARGEST_OF_USERS}")
    fields.finish("PriorityClass")
    return found


def _check_system_class(fields: Fields, found: PriorityClass) -> None:
    """Two classes exist in every cluster; they may be repeated, as a dump of a cluster does, but not changed."""
    known = {one.name: one.value for one in SYSTEM_CLASSES}
    if known.get(found.name) != found.value or found.is_default:
        remedy = f"Names with {_RESERVED} are reserved: choose another, or repeat one as it is"
        fields.log.fail(f"{found.name} is not a class of the system", line=fields.mapping.line, remedy=remedy)


def with_priority(workload: Workload, classes: Sequence[PriorityClass]) -> Workload:
    """The workload with its pods' priority and preemption policy, or an error where admission refuses the pods.

    A pod that runs already keeps the priority it states.
    """
    template = workload.template
    if workload.bound_to is not None and template.priority is not None:
        return workload
    if is_unknown_class(workload, classes):
        return workload
    chosen = _choose_class(workload, classes)
    if template.priority not in (None, chosen.value):
        _refuse(workload, f"spec.priority is {template.priority}, its class gives {chosen.value}", "Remove it")
    if template.preemption_policy not in ("", chosen.preemption_policy):
        stated = template.preemption_policy
        _refuse(workload, f"preemptionPolicy is {stated}, its class gives {chosen.preemption_policy}", "Remove it")
    if chosen == NO_CLASS and template.priority is None:
        return workload
    resolved = replace(
        template, priority_class=chosen.name, priority=chosen.value, preemption_policy=chosen.preemption_policy
    )
    return replace(workload, template=resolved)


def is_unknown_class(workload: Workload, classes: Sequence[PriorityClass]) -> bool:
    """True if the pods name a class and the input holds none at all, so that it is not for the input to say."""
    name = workload.template.priority_class
    if not name or workload.template.priority is not None:
        return False
    return not classes and all(one.name != name for one in SYSTEM_CLASSES)


def omit_class(workload: Workload) -> Omission:
    """A class that the cluster must have, with a value that nobody tells: who preempts whom depends on it."""
    what = f"PriorityClass {printable(workload.template.priority_class)} of {workload.ref}"
    why = "not in the input; the pods are taken to have priority 0. Add the PriorityClass"
    return Omission(
        what, workload.source, why, touches=find_touched(ALL, workload.ref), owner=workload.ref, is_priority=True
    )


def _choose_class(workload: Workload, classes: Sequence[PriorityClass]) -> PriorityClass:
    """The class that the pods name, or the default."""
    name = workload.template.priority_class
    if not name:
        defaults = sorted((one for one in classes if one.is_default), key=lambda one: one.value)
        return defaults[0] if defaults else NO_CLASS
    for one in (*classes, *SYSTEM_CLASSES):
        if one.name == name:
            return one
    known = [one.name for one in (*classes, *SYSTEM_CLASSES)]
    remedy = f"Add that PriorityClass to the input. {suggestion(name, known)}"
    _refuse(workload, f"there is no PriorityClass {printable(name)!r}, so admission refuses its pods", remedy)


def _refuse(workload: Workload, problem: str, remedy: str) -> NoReturn:
    raise ManifestError(
        f"{workload.ref}: {problem}", file=workload.source.file, line=workload.source.line, remedy=remedy
    )
