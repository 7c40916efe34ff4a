"""Random small clusters with claims: bound ones, ones that wait for a pod, ones that are bound at once."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.kinds import DEPLOYMENT, REPLICA_SET, STATEFUL_SET
from kubeproof.cluster.labels import NodeTerm, Requirement
from kubeproof.cluster.objects import HOSTNAME, ZONE, PodTemplate, Setup, StatefulRules, Workload
from kubeproof.cluster.volumes import NO_PROVISIONER, ONCE_PER_POD, Claim, StorageClass, Volume
from kubeproof.events.declarations import Event
from tests.property.events import cordons, failures, scalings
from tests.property.intents import intent_lists
from tests.property.strategies import ANY_KIND, Case, choice, nodes, settings_values, templates, workload

TERMS = choice(
    None,
    (NodeTerm((Requirement(ZONE, "In", ("a",)),)),),
    (NodeTerm((Requirement(ZONE, "In", ("b",)),)),),
    (NodeTerm((Requirement(HOSTNAME, "In", ("n1",)),)),),
    (),
)
ZONES = choice((), (), (), ((ZONE, "a"),), ((ZONE, "a__b"),))
CLASSES = choice(
    StorageClass("fast", "ebs.csi.aws.com", waits=True),
    StorageClass("fast", "ebs.csi.aws.com"),
    StorageClass("fast", "rancher.io/local-path", waits=True),
    StorageClass("fast", NO_PROVISIONER, waits=True),
    StorageClass("fast", NO_PROVISIONER),
    StorageClass("fast", "nfs.example.com", waits=True, topologies=(((ZONE, ("a",)),),)),
)
MODES = choice(("ReadWriteOnce",), ("ReadWriteOnce",), (ONCE_PER_POD,))


@st.composite
def storage_cases(draw: st.DrawFn) -> Case:
    """One or two workloads that mount one or two claims."""
    some = draw(nodes(least=draw(choice(2, 1)), most=3, plain=True))
    modes = draw(MODES)
    claims = tuple(_claim(draw, name, modes) for name in ("data", "more"))
    volumes = tuple(_volume(draw, name, modes) for name in ("disk-1", "disk-2")[: draw(choice(1, 2, 0))])
    first = _pods(draw, "web", draw(choice(DEPLOYMENT, REPLICA_SET, STATEFUL_SET)), draw(choice(2, 1)))
    if first.kind == STATEFUL_SET:
        own = Claim("", "own", draw(choice(1, 2)), draw(choice("fast", "fast", "")), modes)
        rules = StatefulRules(parallel=draw(st.booleans()))
        plain = replace(first.template, claims=draw(choice((), (), ("data",))))
        first = replace(first, template=plain, stateful=rules, claim_templates=(own,))
    second = [_pods(draw, "db", draw(ANY_KIND), 1)] if draw(st.booleans()) else []
    setup = Setup(
        some,
        (first, *second),
        settings=draw(settings_values()),
        volumes=volumes,
        claims=claims[: draw(choice(2, 2, 2, 1))],
        storage_classes=(draw(CLASSES),),
    )
    events: tuple[Event, ...] = ()
    if len(some) < 3 and draw(st.booleans()):
        events = (draw(st.one_of(cordons(most=1), scalings(first, most=2), failures(most=1))),)
    return Case(setup, events, draw(intent_lists((first, *second))))


def _claim(draw: st.DrawFn, name: str, modes: tuple[str, ...]) -> Claim:
    bound = draw(choice("", "", "", "disk-1"))
    return Claim("shop", name, draw(choice(1, 2)), draw(choice("fast", "fast", "fast", "")), modes, volume=bound)


def _volume(draw: st.DrawFn, name: str, modes: tuple[str, ...]) -> Volume:
    kept = draw(choice("", "", "", "shop/data"))
    return Volume(
        name, draw(choice(2, 1)), draw(choice("fast", "")), modes, terms=draw(TERMS), labels=draw(ZONES), claim=kept
    )


def _pods(draw: st.DrawFn, name: str, kind: str, replicas: int) -> Workload:
    plain: PodTemplate = draw(templates(name, graces=(0, 30)))
    claims = draw(choice(("data",), ("data",), ("more",), ("data", "more")))
    return workload(kind, name, replace(plain, claims=claims), replicas)
