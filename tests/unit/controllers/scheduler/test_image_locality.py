from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.nodes.images import find_brought_images, missing_images, track_images
from kubeproof.cluster.objects import Container, Node, PodTemplate, SchedulerProfile, Settings, Setup
from kubeproof.controllers.scheduler.framework import NodeInfo, Scheduler
from tests.unit.controllers.scheduler.builders import MIB, info, node, scores, template, workload

PLUGIN = "ImageLocality"


def using(*images: str, **fields: object) -> PodTemplate:
    return template(containers=tuple(Container(f"c{i}", image=image) for i, image in enumerate(images)), **fields)


def holding(name: str, **images: int) -> Node:
    """A node that lists images with these sizes in MiB, each tagged 1."""
    return node(name, images=tuple((f"{image}:1", size * MIB) for image, size in images.items()))


def setup(pod: PodTemplate, *nodes: Node, version: tuple[int, int] = (1, 37)) -> Setup:
    return Setup(nodes, (workload(pod),), settings=Settings(kubernetes_version=version))


def scored(cluster: Setup, *infos: NodeInfo) -> list[int | None]:
    shown = infos or tuple(info(one) for one in cluster.nodes)
    return scores(Scheduler(cluster, 0, frozenset()).evaluate(list(shown)).rows, PLUGIN)


def test_half_of_the_nodes_have_an_image_of_1000_mib_so_500_count() -> None:
    cluster = setup(using("a:1"), holding("n1", a=1000), holding("n2"))

    assert scored(cluster) == [48, 0]  # 100 * (500 - 23) / (1000 - 23)


def test_less_than_23_mib_scores_nothing_and_more_than_1000_per_container_is_cut_off() -> None:
    assert scored(setup(using("a:1"), holding("n1", a=22), holding("n2", a=22))) == [0, 0]
    assert scored(setup(using("a:1"), holding("n1", a=5000), holding("n2", a=1001))) == [100, 100]
    assert scored(setup(using("a:1", "b:1"), holding("n1", a=1000), holding("n2", a=1000))) == [49, 49]


def test_equal_nodes_count_as_often_as_there_are() -> None:
    cluster = setup(using("a:1"), *(holding(f"n{i}", a=1000) for i in range(3)), holding("n4"))

    grouped = scored(cluster, info(cluster.nodes[0], count=3), info(cluster.nodes[3]))

    assert grouped == [74, 0]  # 100 * (750 - 23) / 977


def test_init_containers_count_since_1_30_and_raise_the_bound() -> None:
    pod = using("a:1", init_containers=(Container("init", image="b:1"),))
    nodes = holding("n1", b=1000), holding("n2", b=1000)

    assert scored(setup(pod, *nodes, version=(1, 29))) == [None, None]
    assert scored(setup(pod, *nodes, version=(1, 30))) == [49, 49]


def test_images_mounted_as_volumes_raise_the_bound_since_1_37_only() -> None:
    pod = using("a:1", volume_images=("b:1",))
    nodes = holding("n1", b=800), holding("n2", b=800)

    assert scored(setup(pod, *nodes, version=(1, 36))) == [79, 79]
    assert scored(setup(pod, *nodes)) == [39, 39]


def test_a_node_to_which_a_pod_has_brought_the_image_scores_like_one_that_lists_it() -> None:
    cluster = setup(using("a:1"), holding("n1", a=1000), holding("n2"))
    n1, n2 = cluster.nodes

    assert scored(cluster, info(n1), info(n2)._replace(images=1)) == [100, 100]


def test_images_are_tracked_if_their_size_is_known_and_some_node_lacks_them() -> None:
    cluster = setup(using("a:1", "b:1", "c:1"), holding("n1", a=10, b=10, other=10), holding("n2", b=10))

    assert track_images(cluster) == ("a:1",)
    assert find_brought_images(cluster) == (1,)
    assert [missing_images(cluster, one) for one in cluster.nodes] == [0, 1]


def test_no_image_is_tracked_where_no_profile_scores_them() -> None:
    cluster = setup(using("a:1"), holding("n1", a=10), holding("n2"))
    off = SchedulerProfile(disabled=frozenset({PLUGIN}))

    assert track_images(replace(cluster, profiles=(off,))) == ()
