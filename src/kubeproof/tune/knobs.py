"""The knobs of a cluster: which fields of its manifests may get which values, as edits of the catalogue of repairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubeproof.errors import UsageError
from kubeproof.manifests.editing.written import Written
from kubeproof.tune.pools import NODES, pools_of, resize
from kubeproof.tune.space import Knob
from kubeproof.tune.values import Asked, read_amount, read_whole, read_window
from kubeproof.values import dataclass
from kubeproof.verify.fix.around import SIZED, Around, replicas_of, sum_requests, write_amount
from kubeproof.verify.fix.catalogue import amounts, autoscaling, sizes
from kubeproof.verify.fix.edits import Edit
from kubeproof.verify.fix.inputs import is_untouchable

HPA = "HorizontalPodAutoscaler"
MOST_PODS = 100_000
USUAL_TARGETS = (40, 50, 60, 70, 80, 90)
USUAL_WINDOWS = (0, 60, 120, 300, 600)
USUAL_MORE = 2  # nodes and, by factor, replicas more than there are

Make = Callable[[Written, Around, int], Edit]


@dataclass(frozen=True, slots=True)
class ClusterKnob:
    """A knob, and how its values are written."""

    knob: Knob
    write: Callable[[int], Edit]  # of the number of a value

    def edit(self, at: int) -> Edit | None:
        """The edit for a value; None for what the input has."""
        return None if at == self.knob.now else self.write(at)


@dataclass(frozen=True, slots=True)
class Field:
    """A field that may be set, of objects of some kinds."""

    name: str
    about: str
    of: Callable[[Written, Around], int | None]  # what it is now; None: the object has none
    usual: Callable[[int], Sequence[int]]  # values to try where nobody says which
    read: Callable[[str, str], int]
    make: Make
    show: Callable[[int], str] = str


def _cpu_metric(one: Written) -> int | None:
    metrics = one.at("spec", "metrics")
    for number, metric in enumerate(metrics if isinstance(metrics, list) else []):
        source = (metric.get("resource") or metric.get("containerResource") or {}) if isinstance(metric, dict) else {}
        if source.get("name") == "cpu" and autoscaling.target_of(one, number) is not None:
            return number
    return None


def _target(one: Written, around: Around) -> int | None:
    number = _cpu_metric(one)
    return None if number is None else autoscaling.target_of(one, number)


def _window(direction: str) -> Field:
    def make(one: Written, around: Around, seconds: int) -> Edit:
        return autoscaling.set_window(one, direction, seconds)

    return Field(
        f"{direction}Window",
        f"behavior.{direction}.stabilizationWindowSeconds",
        lambda one, around: autoscaling.window_of(one, direction),
        lambda now: USUAL_WINDOWS if direction == "scaleDown" else (),
        read_window,
        make,
        lambda seconds: f"{seconds}s",
    )


def _request(resource: str, name: str) -> Field:
    def make(one: Written, around: Around, amount: int) -> Edit:
        pods = replicas_of(one)
        return amounts.scale_requests(one, resource, amount, sum_requests(one, resource), pods)

    return Field(
        name,
        f"the {resource} requests of a pod, and limits with them where they grow",
        lambda one, around: sum_requests(one, resource) or None,
        lambda now: (now // 2, now, now * 2) if resource == "cpu" else (),
        lambda key, text: read_amount(key, text, resource),
        make,
        lambda amount: write_amount(resource, amount),
    )


OF_AUTOSCALERS = (
    Field(
        "targetCPU", "averageUtilization of cpu, in percent", _target, lambda now: USUAL_TARGETS,
        lambda key, text: read_whole(key, text, 1, 10_000),
        lambda one, around, number: autoscaling.set_target(one, _cpu_metric(one) or 0, number),
    ),
    Field(
        "minReplicas", "its least number of pods", lambda one, around: autoscaling.bounds_of(one)[0],
        lambda now: range(1, now + USUAL_MORE + 1), lambda key, text: read_whole(key, text, 1, MOST_PODS),
        autoscaling.set_minimum,
    ),
    Field(
        "maxReplicas", "its greatest number of pods", lambda one, around: autoscaling.bounds_of(one)[1],
        lambda now: (max(1, now // 2), now, now * 2), lambda key, text: read_whole(key, text, 1, MOST_PODS),
        autoscaling.set_maximum,
    ),
    _window("scaleDown"),
    _window("scaleUp"),
)  # fmt: skip
OF_WORKLOADS = (
    Field(
        "replicas", "spec.replicas, where no autoscaler writes it",
        lambda one, around: None if around.autoscalers_of(one) else replicas_of(one),
        lambda now: range(max(1, now // 2), max(now * USUAL_MORE, now + 1) + 1),
        lambda key, text: read_whole(key, text, 0, MOST_PODS),
        lambda one, around, number: sizes.set_replicas(one, number),
    ),
    _request("cpu", "cpuRequest"),
    _request("memory", "memoryRequest"),
)  # fmt: skip


def list_keys() -> Iterator[tuple[str, str]]:
    """What can be set, with words."""
    yield from ((f"hpa.{field.name}", f"of every {HPA}: {field.about}") for field in OF_AUTOSCALERS)
    yield from ((f"{HPA}/NAMESPACE/NAME.{field.name}", "of one") for field in OF_AUTOSCALERS[:1])
    yield from ((f"Deployment/NAMESPACE/NAME.{field.name}", field.about) for field in OF_WORKLOADS)
    yield NODES, "how many nodes there are, of each kind of equal ones; of one kind: nodes.NAME, of any of them"


def make_knobs(objects: Sequence[Written], asked: Sequence[Asked], served: Sequence[str]) -> list[ClusterKnob]:
    """The knobs that were asked for; without any the usual ones of what serves requests, and of nodes."""
    around = Around(tuple(one for one in objects if not is_untouchable(one)))
    found = [knob for one in asked for knob in _find(around, one)] if asked else list(_usual(around, served))
    keys = [one.knob.key for one in found]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise UsageError(f"--set names {twice} twice", "Give all its values together.")
    if not any(len(one.knob.values) > 1 for one in found):
        raise UsageError("there is nothing to set", "Give values with --set; kubeproof tune --keys tells which.")
    return found


def _find(around: Around, asked: Asked) -> list[ClusterKnob]:
    subject, _, name = asked.key.rpartition(".")
    if asked.key == NODES or subject == NODES:
        found = [_nodes(around, pool, asked.values) for pool in pools_of(around, None if asked.key == NODES else name)]
    elif subject == "hpa":
        found = [knob for one in around.of_kind(HPA) for knob in _of(around, one, OF_AUTOSCALERS, name, asked)]
    else:
        ref = subject if subject.count("/") == 2 else subject.replace("/", "/default/", 1)
        named = [one for one in around.objects if one.ref == ref]
        found = [
            knob
            for one in named
            for knob in _of(around, one, OF_AUTOSCALERS if one.kind == HPA else OF_WORKLOADS, name, asked)
            if one.kind in (*SIZED, HPA)
        ]
    if not found:
        if asked.key.startswith(NODES):
            raise UsageError(
                f"--set {asked.key}: the input has no Node objects", "Add them; assumed nodes have no number."
            )
        known = ", ".join(key for key, _ in list_keys())
        raise UsageError(f"--set {asked.key}: the input has no such field", f"Known: {known}.")
    return found


def _of(around: Around, one: Written, fields: Sequence[Field], name: str, asked: Asked) -> Iterator[ClusterKnob]:
    for field in fields:
        now = field.of(one, around) if field.name == name else None
        if now is not None:
            yield _knob(around, one, field, now, [field.read(asked.key, text) for text in asked.values])


def _knob(around: Around, one: Written, field: Field, now: int, values: Sequence[int]) -> ClusterKnob:
    chosen = sorted({*values, now})

    def write(at: int) -> Edit:
        return field.make(one, around, chosen[at])

    shown = tuple(field.show(value) for value in chosen)
    return ClusterKnob(Knob(f"{one.ref}.{field.name}", shown, chosen.index(now)), write)


def _nodes(around: Around, pool: Sequence[Written], values: Sequence[str]) -> ClusterKnob:
    chosen = sorted({*(read_whole(NODES, text, 1, 10_000) for text in values), len(pool)})

    def write(at: int) -> Edit:
        return resize(pool, chosen[at], {one.name for one in around.of_kind("Node")})

    key = NODES if len(pools_of(around, None)) == 1 else f"{NODES}.{pool[0].name}"
    return ClusterKnob(Knob(key, tuple(map(str, chosen)), chosen.index(len(pool))), write)


def _usual(around: Around, served: Sequence[str]) -> Iterator[ClusterKnob]:
    """Those that matter most where nobody says which."""
    for one in around.objects:
        scaled = around.find_scaled(one) if one.kind == HPA else None
        if one.kind == HPA and scaled is not None and scaled.ref in served:
            yield from _all(around, one, OF_AUTOSCALERS)
        elif one.kind in SIZED and one.ref in served:
            yield from _all(around, one, OF_WORKLOADS)
    for pool in pools_of(around, None):
        count = len(pool)
        yield _nodes(around, pool, [str(number) for number in range(max(1, count - 2), count + USUAL_MORE + 1)])


def _all(around: Around, one: Written, fields: Sequence[Field]) -> Iterator[ClusterKnob]:
    for field in fields:
        now = field.of(one, around)
        values = (
            [] if now is None else [value for value in field.usual(now) if value > 0 or field.name.endswith("Window")]
        )
        if now is not None and values:
            yield _knob(around, one, field, now, values)
