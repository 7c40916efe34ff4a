"""The published experiments: a service with three waves, and two services that share nodes with four.

Facts of the model and its scenarios: Turin et al., "A formal model of the Kubernetes container framework" (ISoLA 2020)
and its public source of June 2020, which decides where the two differ: nodes of 3800, 3795 and 3700 units (the paper
rounds to 4000), scale-down after 10 quiet intervals (the paper says 300 s). The workflow of eleven services is of its
later version (autumn 2020): batches that are split over the pods, and calls in stages.
"""

from __future__ import annotations

from kubeproof.errors import UsageError
from kubeproof.simulate.published.declarations import (
    BatchCall,
    BatchFlow,
    Experiment,
    NodeSpec,
    ServiceSpec,
    Thresholds,
    Wave,
)

NODES = (NodeSpec("node-1", 3800, 4000), NodeSpec("node-2", 3795, 4000), NodeSpec("node-3", 3700, 4000))
FIRST, SECOND = "service-1", "service-2"
STARTS = (5, 95, 185, 275)
QUIET_INTERVALS = 10
DOWN = 0.05
CONFIGURATIONS = {"calibration": (0.80, 0.95), "1": (0.95, 0.80), "2": (0.95, 0.95)}
LOW, HIGH = (90, 1.0), (180, 0.5)  # requests of a client, and intervals between two
COST = {FIRST: 17, SECOND: 26}
LAST_COST_OF_SECOND = 43
SHOP = (  # service, CPU request and limit of a pod, pods at the start; in the order in which they are deployed
    ("emailservice", 100, 200, 1),
    ("checkoutservice", 100, 200, 1),
    ("recommendationservice", 100, 200, 1),
    ("frontend", 150, 250, 10),
    ("paymentservice", 100, 200, 1),
    ("productcatalogservice", 100, 200, 1),
    ("cartservice", 200, 300, 1),
    ("currencyservice", 150, 250, 10),
    ("shippingservice", 100, 200, 1),
    ("rediscart", 70, 125, 1),
    ("adservice", 200, 300, 1),
)
CALLED = ("frontend", "currencyservice", "cartservice", "productcatalogservice", "adservice")
BATCHES = {100: (300, (2850, 2850, 390, 250, 370)), 200: (500, (3650, 3650, 440, 330, 390))}  # by threads


def find_published(name: str, config: str = "calibration", quiet_intervals: int = QUIET_INTERVALS) -> Experiment:
    """An experiment by name: abs-1, or abs-2 in one of its configurations."""
    if name == "abs-1":
        waves = _waves(FIRST, (LOW, HIGH, LOW))
        return Experiment(name, NODES, (_service(FIRST, 0.80, 8, quiet_intervals),), waves, 350)
    if name != "abs-2":
        raise UsageError(f"no experiment {name!r}", "There are abs-1 and abs-2.")
    if config not in CONFIGURATIONS:
        raise UsageError(f"no configuration {config!r} of abs-2", f"There are {', '.join(CONFIGURATIONS)}.")
    first, second = CONFIGURATIONS[config]
    services = (_service(FIRST, first, 10, quiet_intervals), _service(SECOND, second, 10, quiet_intervals))
    waves = (*_waves(FIRST, (HIGH, LOW, HIGH, HIGH)), *_waves(SECOND, (LOW, HIGH, LOW, HIGH)))
    return Experiment(f"{name} {config}", NODES, services, waves, 400)


def workflow(threads: int = 100, quiet_intervals: int = QUIET_INTERVALS) -> Experiment:
    """The published workflow: a front end, then four services in parallel, called by a batch in every interval."""
    if threads not in BATCHES:
        raise UsageError(f"no workflow of {threads} threads", f"There are {' and '.join(map(str, BATCHES))}.")
    requests, costs = BATCHES[threads]
    first, *others = (BatchCall(name, cost) for name, cost in zip(CALLED, costs, strict=True))
    scaler = Thresholds(0.80, DOWN, quiet_intervals, most=30)
    services = tuple(
        ServiceSpec(name, request, limit, scaler, pods=pods, memory=0, newest_is_next=False)
        for name, request, limit, pods in SHOP
    )
    flow = BatchFlow(5, 450, requests, ((first,), tuple(others)))
    return Experiment(f"abs-workflow {threads} threads", NODES, services, (), 500, flow=flow)


def _service(name: str, up: float, most: int, quiet_intervals: int) -> ServiceSpec:
    return ServiceSpec(name, 1000, 2500, Thresholds(up, DOWN, quiet_intervals, most=most))


def _waves(service: str, paces: tuple[tuple[int, float], ...]) -> tuple[Wave, ...]:
    return tuple(
        Wave(service, start, _cost(service, number), requests=requests, pause=pause)
        for number, (start, (requests, pause)) in enumerate(zip(STARTS, paces, strict=False))
    )


def _cost(service: str, wave: int) -> int:
    is_last = service == SECOND and wave == len(STARTS) - 1
    return LAST_COST_OF_SECOND if is_last else COST[service]
