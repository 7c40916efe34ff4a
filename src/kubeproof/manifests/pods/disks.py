"""Disks that pods name without a claim, which the scheduler gives to one pod of a node at a time.

VolumeRestrictions (`isVolumeConflict` of `pkg/scheduler/framework/plugins/volumerestrictions`) keeps a pod from a node
where another pod has the same disk, unless both only read it; an EBS volume also then. That is not modelled. Where no
two pods can ever be at odds about a disk it decides nothing, which is found here once all of the input has been read.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

from kubeproof.manifests.loaded import Disk, Omission
from kubeproof.manifests.validation.deciding import NUMBER
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.tree import TRUE_WORDS, Mapping, Scalar

# What tells two disks apart. Pools and monitors of RBD are left out: images of one name are taken for one image.
_NAMED_BY = {"awsElasticBlockStore": "volumeID", "gcePersistentDisk": "pdName", "iscsi": "iqn", "rbd": "image"}
_NEVER_SHARED = "awsElasticBlockStore"
_BARE_POD = "Pod/"  # of such an object there is one pod at a time, and nobody makes another


def omit_disks(volume: Fields) -> None:
    """Records the disks of a volume as not modelled, with what tells whether anybody shares them."""
    for source, key in _NAMED_BY.items():
        if volume.has(source):
            volume.omit(source, decides=NUMBER, disk=_disk(volume, source, key))


def _disk(volume: Fields, source: str, key: str) -> Disk:
    """What the volume says, looked at without keeping it: names of disks are nobody's business in a snapshot."""
    value = volume.mapping.get(source)
    entries = value if isinstance(value, Mapping) else None
    return Disk(source, _text(entries, key), is_read_only=_text(entries, "readOnly").lower() in TRUE_WORDS)


def _text(mapping: Mapping | None, key: str) -> str:
    found = None if mapping is None else mapping.get(key)
    return found.text if isinstance(found, Scalar) else ""


def settle_disks(omissions: Iterable[Omission]) -> Iterator[Omission]:
    """The omissions; those of disks about which no two pods can be at odds decide about nobody."""
    told = tuple(omissions)
    uses = [(one.disk, one.owner) for one in told if one.disk is not None]
    unclear = {disk.source for disk, _ in uses if not disk.name}
    groups: dict[tuple[str, str], list[tuple[Disk, str]]] = {}
    for disk, owner in uses:
        groups.setdefault(_group(disk, unclear), []).append((disk, owner))
    contested = {key for key, group in groups.items() if _may_conflict(group)}
    for one in told:
        is_harmless = one.disk is not None and _group(one.disk, unclear) not in contested
        yield replace(one, touches=()) if is_harmless else one


def _group(disk: Disk, unclear: Container[str]) -> tuple[str, str]:
    """What may be one disk; a disk without a name may be any of its source."""
    return disk.source, "" if disk.source in unclear else disk.name


def _may_conflict(uses: Sequence[tuple[Disk, str]]) -> bool:
    """True if a pod may have to stay away from a node because of another pod with the disk."""
    if len({owner for _, owner in uses}) == 1 and uses[0][1].startswith(_BARE_POD):
        return False
    return any(not disk.is_read_only or disk.source == _NEVER_SHARED for disk, _ in uses)
