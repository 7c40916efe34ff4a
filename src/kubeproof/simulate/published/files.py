"""Experiments of one's own, in a file: nodes, services with their autoscalers, waves or batches, promises, prices."""

from __future__ import annotations

import os

from kubeproof.cluster.api.quantity import QuantityError
from kubeproof.errors import ManifestError
from kubeproof.events.quantities import Prices
from kubeproof.manifests.folders.files import read_inputs
from kubeproof.manifests.yaml.durations import parse_milliseconds
from kubeproof.manifests.yaml.fields import Fields, Log, suggestion
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.tree import Mapping, Sequence
from kubeproof.manifests.yaml.writer import as_yaml
from kubeproof.simulate.published.declarations import (
    BatchCall,
    BatchFlow,
    Experiment,
    NodeSpec,
    Promise,
    ServiceSpec,
    Thresholds,
    Wave,
)

VERSION, KIND = "kubeproof.dev/v1alpha1", "Experiment"
MOST_INTERVALS, MOST_UNITS, MOST_CLIENTS = 1_000_000, 1_000_000_000, 1_000_000
MOST_REQUESTS = 100_000_000  # of all waves together


def load_experiment(path: str) -> Experiment:
    """The experiment in a file; raises ManifestError with the line of what is wrong."""
    if os.path.isdir(path):
        raise ManifestError("is a directory", file=printable(path), line=0, remedy="Name one file of an experiment")
    bounds = Bounds()
    file = next(iter(read_inputs([path], stdin=None, bounds=bounds)))
    return read_experiment(file.content, file.shown)


def read_experiment(content: bytes, file: str) -> Experiment:
    """The experiment that the content of a file describes."""
    documents = list(read_documents(content, file=file, budget=Budget(Bounds())))
    root = documents[0] if len(documents) == 1 else None
    if not isinstance(root, Mapping):
        problem = "not a mapping" if root is not None else f"{len(documents)} documents, not one"
        raise ManifestError(problem, file=file, line=1, remedy=f"Write one object of kind {KIND}")
    fields = Fields(root, "", Log(file, KIND))
    for key, value in (("apiVersion", VERSION), ("kind", KIND)):
        if fields.require_text(key) != value:
            fields.fail(key, "is not that of an experiment", remedy=f"Write {key}: {value}")
    metadata = fields.child("metadata")
    name = (metadata.text("name") if metadata else None) or "experiment"
    spec = fields.require_child("spec")
    fields.finish_strictly("apiVersion", "kind", "metadata", "spec")
    return _read(spec, name)


def _read(spec: Fields, name: str) -> Experiment:
    nodes = tuple(_node(one) for one in spec.children("nodes"))
    services = tuple(_service(one) for one in spec.children("services"))
    for key, every in (("nodes", [one.name for one in nodes]), ("services", [one.name for one in services])):
        if not every or len(set(every)) < len(every):
            spec.fail(key, "is empty or names one twice", remedy="Name at least one, each once")
    known = {one.name: one for one in services}
    waves = tuple(_wave(one, known) for one in spec.children("waves"))
    if sum(wave.clients * wave.requests for wave in waves) > MOST_REQUESTS:
        spec.fail("waves", f"make more than {MOST_REQUESTS:,} requests", remedy="Make fewer")
    flow = spec.child("flow")
    prices = spec.child("prices")
    found = Experiment(
        name,
        nodes,
        services,
        waves,
        spec.integer("intervals", least=1, most=MOST_INTERVALS) or _require(spec, "intervals"),
        _seconds(spec, "interval", 2.0),
        None if flow is None else _flow(flow, known),
        tuple(_promise(one, known) for one in spec.children("promises")),
        None if prices is None else _prices(prices),
    )
    spec.finish_strictly("intervals", "interval", "nodes", "services", "waves", "flow", "promises", "prices")
    return found


def _require(fields: Fields, key: str) -> int:
    fields.fail(key, "is required", remedy=f"Add {key}")


def _whole(fields: Fields, key: str, default: int | None = None, *, least: int = 0, most: int = MOST_UNITS) -> int:
    number = fields.integer(key, least=least, most=most)
    return number if number is not None else _require(fields, key) if default is None else default


def _number(fields: Fields, key: str, default: float, *, most: float = 1e9) -> float:
    text = fields.number(key)
    if text is None:
        return default
    try:
        number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except (ValueError, QuantityError):
        number = -1.0
    if not 0 <= number <= most:
        fields.fail(key, f"is {printable(text)!r}", remedy="Write a number of at least 0, or a percentage such as 80%")
    return number


def _seconds(fields: Fields, key: str, default: float) -> float:
    text = fields.number(key)
    milliseconds = None if text is None else parse_milliseconds(text)
    if text is not None and not milliseconds:
        fields.fail(key, f"is {printable(text)!r}", remedy="Write a duration above zero, such as 2s")
    return default if milliseconds is None else milliseconds / 1000


def _node(fields: Fields) -> NodeSpec:
    found = NodeSpec(fields.require_text("name"), _whole(fields, "cpu", least=1), _whole(fields, "memory", MOST_UNITS))
    fields.finish_strictly("name", "cpu", "memory")
    return found


def _service(fields: Fields) -> ServiceSpec:
    request = _whole(fields, "request", least=1)
    scaler = fields.require_child("scaler")
    pods = _whole(fields, "pods", 1, most=10_000)
    newest = fields.boolean("newestIsNext")
    found = ServiceSpec(
        fields.require_text("name"),
        request,
        _whole(fields, "limit", request, least=1),
        _scaler(scaler),
        pods=pods,
        memory=_whole(fields, "memory", 0),
        newest_is_next=True if newest is None else newest,
        quantum=_whole(fields, "quantum", 1, least=1),
    )
    fields.finish_strictly("name", "request", "limit", "scaler", "pods", "memory", "newestIsNext", "quantum")
    return found


def _scaler(fields: Fields) -> Thresholds:
    least = _whole(fields, "min", 1, least=1, most=10_000)
    found = Thresholds(
        up=_number(fields, "up", 0.8),
        down=_number(fields, "down", 0.05),
        quiet_cycles=_whole(fields, "coolDown", 10, least=1, most=MOST_INTERVALS),
        least=least,
        most=_whole(fields, "max", 10, least=least, most=10_000),
    )
    if not found.up:
        fields.fail("up", "is 0", remedy="Write a share above 0, such as 80%")
    fields.finish_strictly("up", "down", "coolDown", "min", "max")
    return found


def _named(fields: Fields, known: dict[str, ServiceSpec]) -> ServiceSpec:
    name = fields.require_text("service")
    if name not in known:
        fields.fail("service", f"is {printable(name)!r}, which is not declared", remedy=suggestion(name, known))
    return known[name]


def _cost(fields: Fields, service: ServiceSpec) -> int:
    cost = _whole(fields, "cost", least=1)
    if cost % service.quantum:
        remedy = f"Write a multiple of {service.quantum}"
        fields.fail("cost", f"is {cost}, which is no multiple of the quantum of {service.name}", remedy=remedy)
    return cost


def _wave(fields: Fields, known: dict[str, ServiceSpec]) -> Wave:
    service = _named(fields, known)
    found = Wave(
        service.name,
        _number(fields, "start", 0.0),
        _cost(fields, service),
        clients=_whole(fields, "clients", 1, least=1, most=MOST_CLIENTS),
        spacing=_number(fields, "spacing", 0.0),
        requests=_whole(fields, "requests", 1, least=1, most=MOST_CLIENTS),
        pause=_number(fields, "pause", 1.0),
    )
    fields.finish_strictly("service", "start", "cost", "clients", "spacing", "requests", "pause")
    return found


def _flow(fields: Fields, known: dict[str, ServiceSpec]) -> BatchFlow:
    stages = []
    for place, item in enumerate(fields.items("stages")):
        if not isinstance(item, Sequence):
            fields.fail(
                "stages", "is no list of lists", remedy="Write [[{service: a, cost: 100}], [{service: b, cost: 50}]]"
            )
        stages.append(
            tuple(_call(Fields(one, f"{fields.path}.stages[{place}]", fields.log), known) for one in item.items)  # type: ignore[arg-type]
        )
    found = BatchFlow(
        _whole(fields, "start", 0),
        _whole(fields, "times", 1, least=1, most=MOST_INTERVALS),
        _whole(fields, "requests", 1, least=1, most=MOST_CLIENTS),
        tuple(stages),
    )
    if not found.stages or not all(found.stages):
        fields.fail("stages", "has none, or an empty one", remedy="Give each stage at least one call")
    fields.finish_strictly("start", "times", "requests", "stages")
    return found


def _call(fields: Fields, known: dict[str, ServiceSpec]) -> BatchCall:
    service = _named(fields, known)
    found = BatchCall(service.name, _whole(fields, "cost", least=1))
    if service.quantum > 1:
        fields.fail("service", "has a quantum, which batches do not know", remedy="Write quantum: 1")
    fields.finish_strictly("service", "cost")
    return found


def _promise(fields: Fields, known: dict[str, ServiceSpec]) -> Promise:
    service = _named(fields, known)
    found = Promise(service.name, _whole(fields, "percentile", 95, least=1, most=100), _seconds(fields, "within", 0.0))
    if not found.within_s:
        fields.fail("within", "is required", remedy="Write for instance within: 2s")
    fields.finish_strictly("service", "percentile", "within")
    return found


def _prices(fields: Fields) -> Prices:
    found = Prices(node_hour=_number(fields, "nodeHour", 0.0), pod_hour=_number(fields, "podHour", 0.0))
    fields.finish_strictly("nodeHour", "podHour")
    return found


def as_file(experiment: Experiment) -> str:
    """The experiment as a file, to be edited."""
    return as_yaml(_value(experiment))


def _value(experiment: Experiment) -> dict[str, object]:
    spec: dict[str, object] = {
        "intervals": experiment.intervals,
        "interval": f"{round(1000 * experiment.interval_s)}ms",
        "nodes": [{"name": one.name, "cpu": one.cpu, "memory": one.memory} for one in experiment.nodes],
        "services": [_service_value(one) for one in experiment.services],
    }
    if experiment.waves:
        spec["waves"] = [_wave_value(one) for one in experiment.waves]
    if experiment.flow:
        flow = experiment.flow
        stages = [[{"service": call.service, "cost": call.cost} for call in stage] for stage in flow.stages]
        spec["flow"] = {"start": flow.start, "times": flow.times, "requests": flow.requests, "stages": stages}
    if experiment.promises:
        spec["promises"] = [
            {"service": one.service, "percentile": one.percentile, "within": f"{round(1000 * one.within_s)}ms"}
            for one in experiment.promises
        ]
    if experiment.prices:
        spec["prices"] = {"nodeHour": experiment.prices.node_hour, "podHour": experiment.prices.pod_hour}
    return {"apiVersion": VERSION, "kind": KIND, "metadata": {"name": experiment.name.replace(" ", "-")}, "spec": spec}


def _service_value(one: ServiceSpec) -> dict[str, object]:
    rules = one.scaler
    scaler = {"up": rules.up, "down": rules.down, "coolDown": rules.quiet_cycles, "min": rules.least, "max": rules.most}
    return {
        "name": one.name, "request": one.request, "limit": one.limit, "pods": one.pods, "memory": one.memory,
        "quantum": one.quantum, "newestIsNext": one.newest_is_next, "scaler": scaler,
    }  # fmt: skip


def _wave_value(one: Wave) -> dict[str, object]:
    return {
        "service": one.service, "start": one.start, "cost": one.cost, "clients": one.clients, "spacing": one.spacing,
        "requests": one.requests, "pause": one.pause,
    }  # fmt: skip
