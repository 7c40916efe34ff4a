from __future__ import annotations

from kubeproof.cluster.kinds import POD
from kubeproof.cluster.objects import Container, PodAffinity, PodTemplate, PodTerm, Setup, Workload
from kubeproof.cluster.state import Health, NodeCell, Phase, PodKind
from kubeproof.cluster.steering.quotas import ResourceQuota, Scope
from kubeproof.controllers.admission.quota import (
    ENDLESS,
    Charged,
    find_charged,
    find_unstated,
    is_meant,
    ration_of,
    usage,
)
from kubeproof.controllers.workloads.replicaset import ReplicaSetController
from kubeproof.model.layout import make_layout, mentions

MIB = 2**20
ASKING = PodTemplate(containers=(Container("main", 250, 64 * MIB, limits=(("cpu", 500), ("memory", 128 * MIB))),))
SILENT = PodTemplate(containers=(Container("main"),))


def pods(template: PodTemplate = ASKING, namespace: str = "shop", name: str = "web") -> Workload:
    return Workload(POD, namespace, name, template)


def quota(*scopes: str, **hard: int) -> ResourceQuota:
    """A quota of the namespace shop; underscores in names stand for dots."""
    named = tuple((name.replace("_", "."), amount) for name, amount in hard.items())
    return ResourceQuota("shop", "q", named, tuple(Scope(scope) for scope in scopes))


def room(quotas: tuple[ResourceQuota, ...], present: int, *workloads: Workload) -> int:
    """How many pods of the first workload are let in beside so many of each."""
    ration = ration_of(Setup(workloads=workloads, quotas=quotas), 0)
    assert ration is not None
    return ration.room({number: Charged(number, present) for number in range(len(workloads))})


def test_a_pod_is_charged_under_every_name_that_quotas_know() -> None:
    assert usage(ASKING, (1, 37)) == {
        "count/pods": 1,
        "pods": 1,
        "cpu": 250,
        "requests.cpu": 250,
        "memory": 64 * MIB,
        "requests.memory": 64 * MIB,
        "limits.cpu": 500,
        "limits.memory": 128 * MIB,
    }


def test_overhead_adds_to_limits_that_exist_and_in_1_26_to_all() -> None:
    template = PodTemplate(containers=(Container("main", 100),), overhead=(("cpu", 50),))

    assert usage(template, (1, 37)) == {"count/pods": 1, "pods": 1, "cpu": 150, "requests.cpu": 150}
    assert usage(template, (1, 26))["limits.cpu"] == 50


def test_1000_milli_have_room_for_two_more_pods_of_250_beside_two() -> None:
    assert room((quota(requests_cpu=1000),), 2, pods()) == 2
    assert room((quota(requests_cpu=1000, pods=3),), 2, pods()) == 1
    assert room((quota(requests_cpu=1000), quota(pods=2)), 2, pods()) == 0


def test_pods_of_all_workloads_of_the_namespace_are_charged_and_no_others() -> None:
    assert room((quota(pods=5),), 1, pods(), pods(name="db")) == 3
    assert room((quota(pods=5),), 1, pods(), pods(namespace="other")) == 4


def test_what_a_pod_does_not_ask_for_never_refuses_it() -> None:
    assert room((quota(requests_cpu=0),), 3, pods(SILENT)) == ENDLESS


def test_pods_stuck_on_a_dead_node_are_charged_as_objects_only() -> None:
    gone = NodeCell(health=Health.UNKNOWN, pods=((PodKind(0, Phase.UNREADY), 1), (PodKind(0, Phase.TERMINATING), 2)))
    ending = gone._replace(health=Health.UP)

    assert find_charged(gone, (0,)) == (Charged(0, 1, 2),)
    assert find_charged(ending, (0,)) == (Charged(0, 3),)
    assert find_charged(ending, (1,)) == ()


def test_a_quota_for_cpu_or_memory_wants_every_container_to_state_it() -> None:
    half = PodTemplate(containers=(Container("main", 100), Container("side")))

    assert find_unstated(half, quota(cpu=1000, pods=1)) == ("cpu",)
    assert find_unstated(half, quota(limits_cpu=1000)) == ("limits.cpu",)
    assert find_unstated(ASKING, quota(cpu=1, requests_memory=1, limits_memory=1)) == ()


def test_scopes_decide_whom_a_quota_means() -> None:
    elsewhere = PodAffinity((PodTerm("zone", None, namespaces=("other",)),))
    reaching = PodTemplate(containers=SILENT.containers, pod_anti_affinity=elsewhere, has_deadline=True)

    assert [is_meant(quota("BestEffort"), pods(one)) for one in (SILENT, ASKING)] == [True, False]
    assert [is_meant(quota("NotBestEffort"), pods(one)) for one in (SILENT, ASKING)] == [False, True]
    assert is_meant(quota("Terminating", "CrossNamespacePodAffinity"), pods(reaching))
    assert not is_meant(quota("NotTerminating"), pods(reaching))
    assert not is_meant(quota("CrossNamespacePodAffinity"), pods())


def test_a_replica_set_that_no_quota_means_looks_at_its_own_pods_only() -> None:
    setup = Setup(workloads=(pods(), pods(name="db"), pods(namespace="other")), quotas=(quota(pods=1),))
    layout = make_layout(setup, mentions(setup, (), (), ()))

    assert [ReplicaSetController(layout, number).reads.workloads for number in range(3)] == [(0, 1), (1, 0), (2,)]


def test_a_quota_of_priority_classes_means_pods_by_the_name_of_theirs() -> None:
    def meant(operator: str, *values: str) -> list[bool]:
        scoped = ResourceQuota("shop", "q", (("pods", 1),), (Scope("PriorityClass", operator, values),))
        classes = ("", "high", "low")
        return [is_meant(scoped, pods(PodTemplate(containers=(), priority_class=name))) for name in classes]

    assert meant("In", "high") == [False, True, False]
    assert meant("NotIn", "high") == [True, False, True]
    assert meant("Exists") == [False, True, True]
    assert meant("DoesNotExist") == [True, False, False]


def test_a_quota_of_claims_means_no_pods() -> None:
    assert not is_meant(quota("VolumeAttributesClass", pods=1), pods())
