"""The use case: what becomes of packets, and whether they get where they may or must."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubeproof.errors import InternalError, UsageError
from kubeproof.manifests.yaml.fields import suggestion
from kubeproof.network.headers.classes import DELIVERED, MOST_CLASSES, ROUND, Fate, TooManyClasses, follow
from kubeproof.network.headers.model import Box, Device, Devices
from kubeproof.network.headers.walk import walk
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

CAN, CANNOT, MUST = "can reach", "cannot reach", "must reach"


@dataclass(frozen=True, slots=True)
class PacketAnswer:
    """Whether packets get to a device: some, none, all."""

    kind: str
    target: str
    verdict: Verdict
    example: Fate | None  # that shows it, or speaks against it


@dataclass(frozen=True, slots=True)
class PacketsResult:
    """What becomes of all packets of a set that a device sends."""

    network: str
    start: str
    box: Box
    fates: tuple[Fate, ...]
    answers: tuple[PacketAnswer, ...]
    reason: str = ""  # why they were not followed to the end

    @property
    def verdict(self) -> Verdict:
        """The worst of the answers; loops are told, and judged only if asked."""
        found = {answer.verdict for answer in self.answers}
        if Verdict.VIOLATED in found:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if self.reason or Verdict.UNKNOWN in found else Verdict.HOLDS


def trace_packets(
    devices: Devices, start: str, box: Box, asked: Sequence[tuple[str, str]], *, most: int = MOST_CLASSES
) -> PacketsResult:
    """The fates of packets, each replayed for one of them, and the answers."""
    first = _find(devices, start)
    for _, target in asked:
        _find(devices, target)
    try:
        fates = tuple(follow(devices, first, box, most=most))
    except TooManyClasses:
        reason = f"packets fall apart into more than {most:,} classes; narrow them with --match"
        unknown = tuple(PacketAnswer(kind, target, Verdict.UNKNOWN, None) for kind, target in asked)
        return PacketsResult(devices.name, start, box, (), unknown, reason)
    for fate in fates:
        _replay(devices, start, fate)
    answers = tuple(_answer(fates, kind, target) for kind, target in asked)
    return PacketsResult(devices.name, start, box, _merge(fates), answers)


def _find(devices: Devices, name: str) -> Device:
    found = devices.find(name)
    if found is None:
        raise UsageError(f"no device {name!r}", suggestion(name, [one.name for one in devices.devices]))
    return found


def _replay(devices: Devices, start: str, fate: Fate) -> None:
    """Walks one packet of a class by itself; raises InternalError if it ends otherwise."""
    header = tuple(first for first, _ in fate.packets.origin)
    end = walk(devices, start, header)
    if end.how != fate.how or (fate.how != ROUND and end.device != fate.device):
        raise InternalError(f"E700 a packet ends {end.how} at {end.device}, not {fate.how} at {fate.device}")


_ASKS: dict[str, Callable[[bool], bool]] = {
    CAN: lambda there: there,
    CANNOT: lambda there: there,
    MUST: lambda there: not there,
}


def _answer(fates: Sequence[Fate], kind: str, target: str) -> PacketAnswer:
    shown = next((one for one in fates if _ASKS[kind](one.how == DELIVERED and one.device == target)), None)
    holds = (shown is not None) == (kind == CAN)
    return PacketAnswer(kind, target, Verdict.HOLDS if holds else Verdict.VIOLATED, shown)


def _merge(fates: Sequence[Fate]) -> tuple[Fate, ...]:
    """The fates, those with the same way side by side."""
    order: dict[object, list[Fate]] = {}
    for fate in fates:
        order.setdefault((fate.how, fate.device, tuple((hop.device, hop.text) for hop in fate.hops)), []).append(fate)
    return tuple(fate for group in order.values() for fate in group)
