"""`spec.quantify` of a Scenario: what probabilities refer to, and what running a cluster takes."""

from __future__ import annotations

from kubeproof.cluster.chances import HOUR_S
from kubeproof.events.declarations import NodeChoice
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Power:
    """What the nodes it is about draw, in watts."""

    idle_w: float
    max_w: float
    nodes: NodeChoice = NodeChoice()


@dataclass(frozen=True, slots=True)
class Prices:
    """What things cost, in any one currency."""

    node_hour: float = 0.0
    pod_hour: float = 0.0
    kilowatt_hour: float = 0.0


@dataclass(frozen=True, slots=True)
class QuantifySettings:
    """What probabilities refer to, how long answers look ahead, and what nodes and pods take."""

    tick_s: int = 60
    step_s: float = 0.1  # how long a step of a control loop is exposed to events
    horizon_s: int = HOUR_S
    power: tuple[Power, ...] = ()  # the first that is about a node counts
    prices: Prices | None = None
