"""Images on nodes: which of them can change where a pod is placed.

A node has the images that its status lists. Besides it has those of every pod that has started there, from that moment
on: the kubelet reports them with its next status, at most ten seconds later, and the model takes them as reported at
once. Nothing removes them: garbage collection of images and the limit of 50 images in a node's status are left out. The
size of an image that comes later is the one that the first node with it reports; an image that no node lists has no
known size and attracts no pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.api import versions
from kubeproof.cluster.objects import Node, PodTemplate, Setup

IMAGE_LOCALITY = "ImageLocality"
INIT_IMAGES_SINCE = versions.INIT_IMAGES.since
VOLUME_IMAGES_SINCE = versions.VOLUME_IMAGES.since


def images_of(template: PodTemplate, version: tuple[int, int]) -> tuple[str, ...]:
    """The images that count when a pod is placed, one per container and volume."""
    found = [container.image for container in template.containers]
    if version >= INIT_IMAGES_SINCE:
        found += [container.image for container in template.init_containers]
    if version >= VOLUME_IMAGES_SINCE:
        found += template.volume_images
    return tuple(found)


def image_sizes(setup: Setup) -> dict[str, int]:
    """The size of every image that some node lists and some pod that is scored by images uses."""
    used = frozenset(_list_used(setup))
    sizes: dict[str, int] = {}
    for node in setup.nodes:
        for name, size in node.images:
            if name in used:
                sizes.setdefault(name, size)
    return sizes


def _list_used(setup: Setup) -> Iterator[str]:
    scored = {
        profile.name for profile in setup.profiles if IMAGE_LOCALITY not in profile.disabled | profile.disabled_score
    }
    for workload in setup.workloads:
        if workload.template.scheduler_name in scored:
            yield from images_of(workload.template, setup.settings.kubernetes_version)


def track_images(setup: Setup) -> tuple[str, ...]:
    """The images of known size that some node lacks: pods that start bring them there. Sorted."""
    return tuple(
        name for name in sorted(image_sizes(setup)) if any(name not in dict(node.images) for node in setup.nodes)
    )


def find_brought_images(setup: Setup) -> tuple[int, ...]:
    """Per workload, the tracked images that a started pod has brought to its node, as bits of their positions."""
    tracked = track_images(setup)
    if not tracked:
        return (0,) * len(setup.workloads)
    version = setup.settings.kubernetes_version
    return tuple(
        sum(1 << index for index, name in enumerate(tracked) if name in _find_pulled(workload.template, version))
        for workload in setup.workloads
    )


def _find_pulled(template: PodTemplate, version: tuple[int, int]) -> frozenset[str]:
    """What the kubelet pulls for a pod: init containers' images always."""
    inits = (container.image for container in template.init_containers)
    return frozenset((*images_of(template, version), *inits))


def missing_images(setup: Setup, node: Node) -> int:
    """The tracked images that the node does not list, as bits."""
    listed = dict(node.images)
    return sum(1 << index for index, name in enumerate(track_images(setup)) if name not in listed)
