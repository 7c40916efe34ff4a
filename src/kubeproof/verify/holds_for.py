"""For which sizes of its input an intent holds: numbers of nodes without an end, and what ties replicas to them."""

from __future__ import annotations

from collections.abc import Mapping

from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Tie:
    """What sizes must keep to: `pods` times the replicas, `nodes` by kind times their numbers, and `plus` are >= 0."""

    pods: int
    nodes: tuple[tuple[str, int], ...]  # (name of the node used as template, factor)
    plus: int

    def admits(self, counts: Mapping[str, int], pods: int) -> bool:
        """True for a size that keeps to it."""
        return self.pods * pods + sum(factor * counts[kind] for kind, factor in self.nodes) + self.plus >= 0


@dataclass(frozen=True, slots=True)
class HoldsFor:
    """Sizes at which an intent holds, or says nothing of any run: any numbers from the least ones on."""

    nodes: tuple[tuple[str, int], ...]  # (name of the node used as template, least number): nothing bounds them above
    target: str  # the workload that grows; "": none does
    least: int  # replicas
    most: int | None  # None: nothing bounds them but the ties
    ties: tuple[Tie, ...]
    argument: str  # permanent name
    reason: tuple[str, ...]  # the argument in sentences, without their full stops

    def admits(self, nodes: Mapping[str, int], pods: int) -> bool:
        """True for a size of which the intent is proved."""
        return (
            all(nodes.get(kind, 0) >= least for kind, least in self.nodes)
            and self.least <= pods
            and (self.most is None or pods <= self.most)
            and all(tie.admits(nodes, pods) for tie in self.ties)
        )

    def describe(self) -> str:
        """The sizes in words: `any number of nodes >= 1 and of replicas >= 2, replicas <= 8 x nodes`."""
        replicas = _range("replicas", self.least, self.most) if self.target else ""
        said = [*_describe_nodes(self.nodes), *([replicas] if replicas else [])]
        ties = [_describe_tie(tie, self.nodes) for tie in self.ties]
        return f"any number of {' and of '.join(said)}" + "".join(f", {tie}" for tie in ties)


def _range(what: str, least: int, most: int | None) -> str:
    return f"{what} >= {least}" if most is None else f"{what} from {least} to {most}"


def _describe_nodes(nodes: tuple[tuple[str, int], ...]) -> list[str]:
    if len(nodes) == 1:
        return [_range("nodes", nodes[0][1], None)]
    return [_range(f"nodes like {kind}", least, None) for kind, least in nodes]


def _describe_tie(tie: Tie, kinds: tuple[tuple[str, int], ...]) -> str:
    """`replicas <= 8 x nodes - 1`; factors on the side where they are positive."""
    parts = [(tie.pods, "replicas"), *_join_kinds(tie.nodes, kinds), (tie.plus, "")]
    left = [_product(-factor, what) for factor, what in parts if factor < 0]
    right = [_product(factor, what) for factor, what in parts if factor > 0]
    if tie.plus < 0 and len(left) > 1:
        return f"{' + '.join(left[:-1])} <= {' + '.join(right) or '0'} - {-tie.plus}"
    return f"{' + '.join(left) or '0'} <= {' + '.join(right) or '0'}"


def _join_kinds(factors: tuple[tuple[str, int], ...], kinds: tuple[tuple[str, int], ...]) -> list[tuple[int, str]]:
    """One factor for all nodes where it is the same for each kind."""
    if len({factor for _, factor in factors}) == 1 and len(factors) == len(kinds):
        return [(factors[0][1], "nodes")]
    return [(factor, f"nodes like {kind}") for kind, factor in factors]


def _product(factor: int, what: str) -> str:
    return what if factor == 1 and what else f"{factor} x {what}" if what else str(factor)
