"""ImageLocality: nodes that have the pod's images already score higher, the larger the images the more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubeproof.cluster.api import versions
from kubeproof.cluster.nodes.images import VOLUME_IMAGES_SINCE, image_sizes, images_of, track_images
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import MAX_NODE_SCORE, NodeView

MEBIBYTE = 1024 * 1024
LEAST = 23 * MEBIBYTE  # of all images together; less scores 0
MOST_PER_IMAGE = 1000 * MEBIBYTE
VOLUMES_RAISE_MOST_SINCE = versions.VOLUMES_RAISE_MOST.since

Sizes = tuple[int | None, ...]  # of the pod's images on a node, None where it lacks one
Shares = tuple[float, ...]  # of the cluster's nodes that have an image


class ImageLocality:
    """Mirrors `plugins/imagelocality`: sizes scaled by the share of all nodes that have the image."""

    def __init__(self, names: tuple[str, ...], counted: int, sizes: Mapping[str, int], tracked: Sequence[str]) -> None:
        self._names = names
        self._most = MOST_PER_IMAGE * counted
        self._later = {name: (1 << tracked.index(name), sizes[name]) for name in names if name in tracked}

    def observe(self, view: NodeView) -> Sizes:
        listed = dict(view.node.images)
        return tuple(listed.get(name, self._find_brought(view, name)) for name in self._names)

    def _find_brought(self, view: NodeView, name: str) -> int | None:
        """The size of an image that a pod has brought to the node since."""
        bit, size = self._later.get(name, (0, 0))
        return size if view.images & bit else None

    def prescore(self, facts: Sequence[Sizes], counts: Sequence[int], feasible: Sequence[int]) -> Shares:
        everywhere = sum(counts)
        return tuple(
            sum(n for fact, n in zip(facts, counts, strict=True) if fact[index] is not None) / everywhere
            for index in range(len(self._names))
        )

    def score(self, state: Shares, fact: Sizes) -> int:
        total = sum(int(size * share) for size, share in zip(fact, state, strict=True) if size is not None)
        within = min(max(total, LEAST), self._most)
        return MAX_NODE_SCORE * (within - LEAST) // (self._most - LEAST)

    def normalise(self, scores: list[int]) -> list[int]:
        return scores


def build_score(pod: IncomingPod) -> ImageLocality | None:
    """The score, or None if no node has an image of the pod, so that all nodes score 0."""
    sizes = image_sizes(pod.setup)
    names = images_of(pod.template, pod.version)
    if not any(name in sizes for name in names):
        return None
    raises_most = pod.version >= VOLUMES_RAISE_MOST_SINCE or pod.version < VOLUME_IMAGES_SINCE
    counted = len(names) - (0 if raises_most else len(pod.template.volume_images))
    return ImageLocality(names, counted, sizes, track_images(pod.setup))
