"""What is drawn of a timed run: panels of lines over time, the same for the page and for the picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubeproof.simulate import outcome as q
from kubeproof.simulate.outcome import Comparison, Series, SimulationResult, Timeline
from kubeproof.simulate.published.result import Curves
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

Values = tuple[float | None, ...]

OF_SERVICE = (  # title, unit, quantities with their names, and whether the line goes in steps
    ("Pods", "", ((q.PODS, "pods"), (q.READY, "ready"), (q.DESIRED, "desired"), (q.PENDING, "pending")), True),
    ("CPU", "cores", ((q.CPU_USED, "used"), (q.CPU_REQUESTED, "requested"), (q.CPU_LIMIT, "limit")), False),
    ("Memory", "bytes", ((q.MEMORY_USED, "used"),), False),
    ("Requests", "1/s", ((q.ARRIVED, "arrived"), (q.OK, "in time"), (q.LATE, "late"), (q.FAILED, "failed")), False),
    ("Requests that wait", "", ((q.WAITING, "waiting"),), False),
    ("Response time", "s", ((q.P50, "p50"), (q.P95, "p95"), (q.P99, "p99")), False),
)
OF_NODES = (
    ("CPU used on nodes", "cores", q.CPU_USED, False),
    ("CPU requested on nodes", "cores", q.CPU_REQUESTED, True),
    ("CPU that nodes offer", "cores", q.CPU_ALLOCATABLE, True),
    ("Pods of nodes", "", q.PODS, True),
)
OF_CLUSTER = (("Nodes that are up", "", q.NODES, True), ("Power", "W", q.WATTS, False))
OF_VARIANTS = (
    ("Pods", "", q.PODS, True),
    ("CPU used", "cores", q.CPU_USED, False),
    ("Response time, p95", "s", q.P95, False),
    ("Requests that wait", "", q.WAITING, False),
    ("Requests that failed", "1/s", q.FAILED, False),
)
EVENTS = ("event ", q.SHIFT)  # how the actors of moments are called that are marked
MOST_MARKS = 100
MOST_LINES = 12  # of one panel; the busiest ones


@dataclass(frozen=True, slots=True)
class Line:
    """One curve; with a band if it is the mean of several runs."""

    name: str
    values: Values
    low: Values = ()
    high: Values = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves with the same unit."""

    title: str
    unit: str
    lines: tuple[Line, ...]
    has_steps: bool = False
    note: str = ""

    @property
    def is_whole(self) -> bool:
        """True if things are counted: pods, nodes, requests."""
        return not self.unit


@dataclass(frozen=True, slots=True)
class Group:
    """The panels of one subject."""

    name: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment at which something happened that curves do not show."""

    time_s: float
    text: str
    is_bad: bool  # an intent was violated; else an event or a fault


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything that is drawn, over the same times."""

    times_s: tuple[float, ...]
    groups: tuple[Group, ...]
    marks: tuple[Mark, ...] = ()


def drawing_of(result: SimulationResult | Comparison | Curves) -> Drawing:
    """The panels of a run, of variants side by side, or of a published experiment."""
    if isinstance(result, Curves):
        return _of_curves(result)
    if isinstance(result, Comparison):
        return _of_variants(result)
    timeline = result.timeline
    services = [_service(subject, own) for subject, own in _by_subject(timeline).items()]
    groups = [*services, Group("Nodes", tuple(_nodes(timeline))), Group("Cluster", tuple(_cluster(timeline)))]
    return Drawing(timeline.times_s, tuple(group for group in groups if group.panels), tuple(_marks(result)))


def _marks(result: SimulationResult) -> Iterator[Mark]:
    """Violations; of a single run also its events and faults: those of others come at other times."""
    for intent in result.intents:
        if intent.verdict == Verdict.VIOLATED and intent.at_s is not None:
            yield Mark(intent.at_s, f"{intent.id} {intent.intent} is violated", is_bad=True)
    if result.runs == 1:
        events = [one for one in result.moments if one.actor.startswith(EVENTS)][:MOST_MARKS]
        yield from (Mark(one.time_s, f"{one.actor}: {one.text}", is_bad=False) for one in events)


def _series(timeline: Timeline, scope: str, subject: str, quantity: str) -> Series | None:
    for one in timeline.series:
        if (one.scope, one.subject, one.quantity) == (scope, subject, quantity):
            return one
    return None


def _line(name: str, series: Series) -> Line:
    return Line(name, series.values, series.low, series.high)


def _by_subject(timeline: Timeline) -> dict[str, dict[str, Series]]:
    """The series of services, by name and quantity."""
    found: dict[str, dict[str, Series]] = {}
    for one in timeline.series:
        if one.scope == q.SERVICE:
            found.setdefault(one.subject, {})[one.quantity] = one
    return found


def _service(subject: str, own: Mapping[str, Series]) -> Group:
    panels = []
    for title, unit, quantities, has_steps in OF_SERVICE:
        lines = tuple(_line(name, own[key]) for key, name in quantities if key in own and _tells(own[key].values))
        if lines:
            panels.append(Panel(title, unit, lines, has_steps))
    return Group(subject, tuple(panels))


def _tells(values: Iterable[float | None]) -> bool:
    """Whether there is anything but nothing."""
    return any(values)


def _nodes(timeline: Timeline) -> Iterator[Panel]:
    for title, unit, quantity, has_steps in OF_NODES:
        series = [one for one in timeline.series if (one.scope, one.quantity) == (q.NODE, quantity)]
        if series:
            yield _busiest(title, unit, [_line(one.subject, one) for one in series], has_steps)


def _busiest(title: str, unit: str, lines: Sequence[Line], has_steps: bool) -> Panel:
    """A panel of the lines that say most, in the order in which they came."""
    if len(lines) <= MOST_LINES:
        return Panel(title, unit, tuple(lines), has_steps)
    ranked = sorted(range(len(lines)), key=lambda at: -sum(value or 0 for value in lines[at].values))
    chosen = tuple(lines[at] for at in sorted(ranked[:MOST_LINES]))
    return Panel(title, unit, chosen, has_steps, f"the busiest {MOST_LINES} of {len(lines)}")


def _cluster(timeline: Timeline) -> Iterator[Panel]:
    for title, unit, quantity, has_steps in OF_CLUSTER:
        series = _series(timeline, q.CLUSTER, "cluster", quantity)
        if series is not None and _tells(series.values):
            yield Panel(title, unit, (_line(title.lower(), series),), has_steps)


def _of_variants(comparison: Comparison) -> Drawing:
    """The same quantity of all variants in one panel."""
    first = comparison.variants[0].result.timeline
    all_series = [(name_of(variant.settings), _by_subject(variant.result.timeline)) for variant in comparison.variants]
    groups = []
    for subject in first.subjects(q.SERVICE):
        panels = []
        for title, unit, quantity, has_steps in OF_VARIANTS:
            lines = []
            for name, own in all_series:
                series = own.get(subject, {}).get(quantity)
                if series is not None and _tells(series.values):
                    lines.append(_line(name, series))
            if lines:
                panels.append(_busiest(title, unit, lines, has_steps))
        groups.append(Group(subject, tuple(panels)))
    return Drawing(first.times_s, tuple(group for group in groups if group.panels))


def name_of(settings: Iterable[tuple[str, str]]) -> str:
    """A variant in words: hpa.targetCPU=60."""
    return ", ".join(f"{key}={value}" for key, value in settings)


def _of_curves(curves: Curves) -> Drawing:
    readings = {service: curves.of(service) for service in curves.services}
    groups = tuple(
        Group(
            service,
            (
                Panel("Pods", "", (Line("pods", tuple(one.pods for one in own)),), True),
                Panel("CPU", "units per interval", (Line("used", tuple(one.cpu for one in own)),)),
                Panel("Use by request", "%", (Line("use", tuple(100 * one.ratio for one in own)),)),
            ),
        )
        for service, own in readings.items()
    )
    times = next(iter(readings.values()))
    return Drawing(tuple(one.interval * curves.interval_s for one in times), groups)
