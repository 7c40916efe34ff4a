"""Service levels: what users of a service are promised, and what that may cost. Measured along runs, not of states."""

from __future__ import annotations

from dataclasses import field
from enum import Enum, auto

from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass


class Side(Enum):
    """On which side of the limit the good numbers are."""

    AT_MOST = auto()
    AT_LEAST = auto()


class Unit(Enum):
    """How a limit is written."""

    SECONDS = auto()  # within: 200ms
    SHARE = auto()  # atLeast: 99.9%
    NUMBER = auto()  # atMost: 3.5


class About(Enum):
    """What a service level is about."""

    SERVICE = auto()  # one that spec.workload sends requests to
    WORKLOAD = auto()
    CLUSTER = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelKind:
    """One kind of service level; its ID is permanent."""

    id: str
    key: str
    text: str
    limit: str  # the field that holds the limit
    unit: Unit
    side: Side
    example: str
    about: About = About.SERVICE
    has_percentile: bool = False
    has_count: bool = False
    is_expected: bool = False  # `quantify` judges it, too: by an expectation or a share of time

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of an entry, its limit last."""
        target = () if self.about is About.CLUSTER else ("target",)
        more = (*(("percentile",) if self.has_percentile else ()), *(("count",) if self.has_count else ()))
        return (*target, *more, self.limit)

    @property
    def judged_by(self) -> tuple[str, ...]:
        """The commands that judge it."""
        return ("simulate", "quantify") if self.is_expected else ("simulate",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLevel:
    """A service level as a Scenario declares it."""

    kind: LevelKind
    name: str
    target: str  # Workload.ref; "" for the whole cluster
    limit: float  # seconds, a share of 1, or a number
    percentile: float = 95.0
    count: int = 1
    source: Source = field(default=Source(), compare=False)


RESPONSE_TIME = LevelKind(
    id="P001",
    key="responseTime",
    text="Of the requests that are answered, `percentile` percent (95 by default) are answered `within` a time.",
    limit="within",
    unit=Unit.SECONDS,
    side=Side.AT_MOST,
    example="responseTime: {target: Deployment/shop/web, percentile: 99, within: 250ms}",
    has_percentile=True,
)
ANSWERED_IN_TIME = LevelKind(
    id="P002",
    key="answeredInTime",
    text="`atLeast` such a share of all requests is answered within the `deadline` of the service; what is late, fails "
    "or is open at the end is not.",
    limit="atLeast",
    unit=Unit.SHARE,
    side=Side.AT_LEAST,
    example="answeredInTime: {target: Deployment/shop/web, atLeast: 99.9%}",
)
ERROR_SHARE = LevelKind(
    id="P003",
    key="errorShare",
    text="`atMost` such a share of all requests fails.",
    limit="atMost",
    unit=Unit.SHARE,
    side=Side.AT_MOST,
    example="errorShare: {target: Deployment/shop/web, atMost: 0.1%}",
)
THROUGHPUT = LevelKind(
    id="P004",
    key="throughput",
    text="`atLeast` so many requests a second are answered in time, over the whole run.",
    limit="atLeast",
    unit=Unit.NUMBER,
    side=Side.AT_LEAST,
    example="throughput: {target: Deployment/shop/web, atLeast: 80}",
)
COST_PER_HOUR = LevelKind(
    id="P005",
    key="costPerHour",
    text="An hour costs `atMost` so much, by the prices of `spec.quantify.cost`.",
    limit="atMost",
    unit=Unit.NUMBER,
    side=Side.AT_MOST,
    example="costPerHour: {atMost: 3.5}",
    about=About.CLUSTER,
    is_expected=True,
)
READY_SHARE = LevelKind(
    id="P006",
    key="readyShare",
    text="For `atLeast` such a share of time at least `count` pods are ready (1 by default).",
    limit="atLeast",
    unit=Unit.SHARE,
    side=Side.AT_LEAST,
    example="readyShare: {target: Deployment/shop/web, count: 2, atLeast: 99.9%}",
    about=About.WORKLOAD,
    has_count=True,
    is_expected=True,
)
RECOVERY_TIME = LevelKind(
    id="P007",
    key="recoveryTime",
    text="When fewer than `count` pods are ready (1 by default), it takes at most `within` on average until as many "
    "are ready again.",
    limit="within",
    unit=Unit.SECONDS,
    side=Side.AT_MOST,
    example="recoveryTime: {target: Deployment/shop/web, count: 2, within: 90s}",
    about=About.WORKLOAD,
    has_count=True,
    is_expected=True,
)
LEVELS: tuple[LevelKind, ...] = (
    *(RESPONSE_TIME, ANSWERED_IN_TIME, ERROR_SHARE, THROUGHPUT, COST_PER_HOUR, READY_SHARE, RECOVERY_TIME),
)
ABOUT_READY_PODS = (READY_SHARE, RECOVERY_TIME)
LEVEL_KEYS = frozenset(kind.key for kind in LEVELS)
