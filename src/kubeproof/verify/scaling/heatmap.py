"""Verdicts over scales: one cell for each number of nodes and pods, as in Kivi's Figure 4."""

from __future__ import annotations

from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.scaling.result import SizeWord, Skipped, Sweep

WORST_FIRST: tuple[SizeWord, ...] = (
    Verdict.VIOLATED,
    Verdict.ERROR,
    Verdict.UNKNOWN,
    Skipped.NOT_TRIED,
    Verdict.HOLDS,
    Verdict.VACUOUS,
    Skipped.TRIVIAL,
)


@dataclass(frozen=True, slots=True)
class HeatCell:
    """All sizes with the same nodes and pods in all; `verdict` is the worst of them."""

    nodes: int
    pods: int  # the least, where several numbers share a cell
    verdict: SizeWord
    sizes: int
    violated: int
    most_pods: int = 0

    @property
    def range(self) -> str:
        """The pods of the cell: `6`, or `5-6`."""
        return str(self.pods) if self.most_pods <= self.pods else f"{self.pods}-{self.most_pods}"


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The cells by nodes, then pods; a combination without sizes has none."""

    cells: tuple[HeatCell, ...]

    @property
    def nodes(self) -> tuple[int, ...]:
        return tuple(sorted({cell.nodes for cell in self.cells}))

    @property
    def pods(self) -> tuple[int, ...]:
        return tuple(sorted({cell.pods for cell in self.cells}))

    @property
    def verdicts(self) -> tuple[SizeWord, ...]:
        """The verdicts that occur, worst first."""
        found = {cell.verdict for cell in self.cells}
        return tuple(verdict for verdict in WORST_FIRST if verdict in found)


def heat_map(sweep: Sweep, most_rows: int | None = None) -> HeatMap:
    """The verdicts of a sweep; with `most_rows`, neighbouring numbers of pods share cells until there are no more."""
    pods = sorted({line.size.pod_total for line in sweep.sizes})
    share = 1 if most_rows is None else -(-len(pods) // most_rows)
    first = {number: pods[index // share * share] for index, number in enumerate(pods)}
    last = {first[number]: number for number in pods}
    groups: dict[tuple[int, int], list[SizeWord]] = {}
    for line in sweep.sizes:
        groups.setdefault((line.size.node_total, first[line.size.pod_total]), []).append(line.verdict)
    return HeatMap(tuple(_cell(*at, last[at[1]], verdicts) for at, verdicts in sorted(groups.items())))


def _cell(nodes: int, pods: int, most_pods: int, verdicts: list[SizeWord]) -> HeatCell:
    worst = min(verdicts, key=WORST_FIRST.index)
    return HeatCell(nodes, pods, worst, len(verdicts), verdicts.count(Verdict.VIOLATED), most_pods)
