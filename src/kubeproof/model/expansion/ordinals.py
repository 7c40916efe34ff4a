"""StatefulSets with every ordinal of every revision as a workload of its own.

The pods of a StatefulSet are no equals: names, order and labels tell them apart. So each ordinal is a group of at most
one pod, and nothing else in the model has to know of identities; permuting equal nodes stays an automorphism.
The StatefulSet itself stays in its place, without pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kubeproof.cluster.api import versions
from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.loops.footprint import Sizing, Writes, footprint_of
from kubeproof.cluster.objects import PodTemplate, Setup, Workload, family
from kubeproof.cluster.volumes import Claim
from kubeproof.errors import UsageError
from kubeproof.events.declarations import Event

MOST_ORDINALS = 32  # of all StatefulSets and revisions together: each is a workload of its own to every loop
LABELS = ("statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index")
POD_INDEX_SINCE = versions.POD_INDEX.since


def with_ordinals(setup: Setup, events: Iterable[Event]) -> Setup:
    """The setup with the ordinals of its StatefulSets; their later revisions are told by ordinals alone."""
    declared = [w for w in setup.workloads if w.rules.has_ordinals and w.owner is None]
    if not declared:
        return setup
    kept = tuple(w for w in setup.workloads if not w.rules.has_ordinals or w.owner is None)
    added: list[Workload] = []
    for main in declared:
        revisions = [main, *(w for w in setup.workloads if w.rules.has_ordinals and w.owner == main.ref)]
        count = _most_replicas(setup, main, tuple(events))
        for number, revision in enumerate(revisions):
            added += [_ordinal(setup, main, revision.template, number, ordinal) for ordinal in range(count)]
    if len(added) > MOST_ORDINALS:
        raise UsageError(f"StatefulSets have {len(added)} ordinals in all", f"Allow at most {MOST_ORDINALS}")
    return replace(setup, workloads=(*kept, *added), claims=(*setup.claims, *_own_claims(setup, added)))


def _own_claims(setup: Setup, ordinals: Iterable[Workload]) -> Iterator[Claim]:
    """The claims of ordinals that the input does not have; all revisions of an ordinal share them."""
    known = {claim.key for claim in setup.claims}
    for one in ordinals:
        for template in one.claim_templates:
            claim = replace(template, namespace=one.namespace, name=_claim_name(template, one))
            if claim.key not in known:
                known.add(claim.key)
                yield claim


def _claim_name(template: Claim, one: Workload) -> str:
    """`data-db-0`: the claim by the template of an ordinal."""
    return f"{template.name}-{str(one.owner).rpartition('/')[2]}-{one.ordinal}"


def revision_templates(setup: Setup, workload: int) -> list[PodTemplate]:
    """The pod templates that a workload may ask for; those of ordinals without the labels that tell them apart."""
    members = [setup.workloads[member] for member in family(setup, workload)]
    if not members[0].rules.has_ordinals:
        return [member.template for member in members]
    firsts = [m.template for m in members[1:] if m.ordinal == m.stateful.start]
    added = len(members[0].claim_templates)
    plain = [
        replace(
            first,
            labels=tuple((k, v) for k, v in first.labels if k not in LABELS),
            claims=first.claims[: len(first.claims) - added],
        )
        for first in firsts
    ]
    return plain or [members[0].template]


def _most_replicas(setup: Setup, main: Workload, events: tuple[Event, ...]) -> int:
    """As many pods as the set may ever be asked for."""
    sizes = [main.replicas]
    sizes += find_written_sizes(events, main.ref)
    sizes += [autoscaler.max_replicas for autoscaler in setup.autoscalers if autoscaler.target == main.ref]
    return max(sizes)


def find_written_sizes(events: Iterable[Event], ref: str) -> Iterator[int]:
    """Every size that events write of a workload."""
    for event in (event for event in events if event.subject == ref):
        told = footprint_of(event)
        if Writes.SIZES in told.writes and told.sizing is Sizing.ANY:
            raise UsageError(f"event {event.name} may write any size of {ref}", "Let its footprint tell which sizes")
        yield from event.sizes


def _ordinal(setup: Setup, main: Workload, template: PodTemplate, revision: int, number: int) -> Workload:
    ordinal = main.stateful.start + number
    labels = dict(template.labels) | {LABELS[0]: f"{main.name}-{ordinal}"}
    if setup.settings.kubernetes_version >= POD_INDEX_SINCE:
        labels[LABELS[1]] = str(ordinal)
    name = f"{main.name}-{ordinal}" if revision == 0 else f"{main.name}-{ordinal}-rev{revision + 1}"
    one = replace(main, name=name, replicas=0, owner=main.ref, ordinal=ordinal)
    claims = (*template.claims, *(_claim_name(by, one) for by in main.claim_templates))
    return replace(one, template=replace(template, labels=as_labels(labels), claims=claims))
