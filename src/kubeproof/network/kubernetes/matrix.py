"""Who may talk to whom: every pair of workloads, and what changed between two inputs."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.objects import Source
from kubeproof.errors import UsageError
from kubeproof.network.kubernetes.objects import Block, KubeNetwork, Outside, Party
from kubeproof.network.kubernetes.policies import Policies
from kubeproof.network.kubernetes.ports import ALL_PORTS, NO_PORTS, Ports, show
from kubeproof.network.kubernetes.questions import WORLD
from kubeproof.stop import Stop, until
from kubeproof.values import dataclass

MOST_PARTIES = 500


@dataclass(frozen=True, slots=True)
class Cell:
    """What one party may open to another."""

    source: str
    target: str
    least: Ports  # for certain
    most: Ports  # whatever is not decided
    why: str
    place: Source

    @property
    def mark(self) -> str:
        """One character: # any port, + some ports, ? not decided, . none."""
        if not self.most:
            return "."
        if self.least != self.most:
            return "?"
        return "#" if self.least == ALL_PORTS else "+"

    @property
    def ports(self) -> str:
        """The ports for people."""
        if self.least == self.most:
            return show(self.least)
        return f"{show(self.least)} for certain, {show(self.most)} at most"


@dataclass(frozen=True, slots=True)
class Change:
    """A pair whose ports are others than before; None: one of the two is new or gone."""

    source: str
    target: str
    before: Cell | None
    after: Cell | None


@dataclass(frozen=True, slots=True)
class Matrix:
    """All pairs, and what changed since another input."""

    names: tuple[str, ...]
    namespaces: tuple[str, ...]  # of each name; empty for the world
    cells: dict[tuple[str, str], Cell]
    notes: tuple[str, ...] = ()
    changes: tuple[Change, ...] | None = None  # None: nothing was compared
    is_interrupted: bool = False


def make_matrix(
    network: KubeNetwork, pod_ranges: Sequence[Block] = (), namespaces: Sequence[str] = (), stop: Stop | None = None
) -> Matrix:
    """Who may talk to whom directly; with namespaces only among their pods and the world."""
    chosen = [pods for pods in network.pods if not namespaces or pods.namespace in namespaces]
    if namespaces and not chosen:
        raise UsageError(f"no pods in {', '.join(namespaces)}", "Name namespaces of the input.")
    if len(chosen) > MOST_PARTIES:
        raise UsageError(
            f"{len(chosen):,} workloads", f"Name namespaces with at most {MOST_PARTIES} in all: --namespace."
        )
    parties: list[Party] = [*sorted(chosen, key=lambda pods: (pods.namespace, pods.ref)), Outside(WORLD)]
    policies = Policies(network, tuple(pod_ranges))
    cells: dict[tuple[str, str], Cell] = {}
    pairs = [(one, other) for one in parties for other in parties if one.ref != other.ref]
    for source, target in until(stop or Stop(), pairs):
        allowed = policies.find_allowed(source, target)
        cell = Cell(source.ref, target.ref, allowed.least, allowed.most, allowed.why, allowed.source)
        cells[source.ref, target.ref] = cell
    names = tuple(party.ref for party in parties)
    spaces = tuple("" if isinstance(party, Outside) else party.namespace for party in parties)
    return Matrix(names, spaces, cells, network.notes, is_interrupted=len(cells) < len(pairs))


def compare(before: Matrix, after: Matrix) -> tuple[Change, ...]:
    """The pairs whose ports differ; those of workloads that one input does not have count if any port is open."""
    found = []
    for pair in dict.fromkeys((*after.cells, *before.cells)):
        old, new = before.cells.get(pair), after.cells.get(pair)
        if _ports(old) != _ports(new):
            found.append(Change(*pair, old, new))
    return tuple(found)


def _ports(cell: Cell | None) -> tuple[Ports, Ports]:
    return (NO_PORTS, NO_PORTS) if cell is None else (cell.least, cell.most)
