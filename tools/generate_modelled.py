"""Writes docs/reference/modelled.md from the tables of the code: what is modelled, what is not.

    python tools/generate_modelled.py           writes the page
    python tools/generate_modelled.py --check   exit code 1 if the committed page is not current

The package must be importable. Fields count as read only if a reader really asked for them while it loaded
tools/every_field.yaml.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kubeproof.cluster.api import versions
from kubeproof.cluster.api.versions import in_words
from kubeproof.cluster.kinds import CRON_JOB, DAEMON_SET, JOB, STATEFUL_SET
from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler, NodeGroup
from kubeproof.cluster.objects import Container, CronRules, Node, PodTemplate, Settings, Setup, Workload
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.steering.policies import DeschedulerPolicy, HorizontalPodAutoscaler
from kubeproof.cluster.steering.vertical import VerticalPodAutoscaler
from kubeproof.controllers.descheduler import cycle, evictor
from kubeproof.controllers.scheduler import registry
from kubeproof.events.declarations import Drain, manuals
from kubeproof.intents.catalogue import catalogue
from kubeproof.manifests.components import controller_settings, scheduler_config
from kubeproof.manifests.components.known import AUTOSCALER, COMPONENTS, DESCHEDULER, DRY_RUN, NODES
from kubeproof.manifests.kinds.catalogue import READ_KINDS
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.validation.schema import FIELDS
from kubeproof.manifests.yaml import fields
from kubeproof.model.expansion.sizes import with_sizes
from kubeproof.model.layout import make_layout, mentions
from kubeproof.model.loops.adjusting import adjusting_loops, group_loops, vertical_loops
from kubeproof.model.loops.assembly import build_controllers, endpoint_loops

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "modelled.md"
SAMPLE = Path(__file__).with_name("every_field.yaml")
ABSTRACTIONS = ROOT / "docs" / "explanation" / "abstractions.md"

REASONS = {
    "record": "written by the system, or read by people only",
    "inside": "concerns what happens inside a container",
    "identity": "who the pod is, not where it runs",
    "network": "how traffic reaches it; no modelled loop decides on it",
    "storage": "volumes without a say in placement",
    "flags": "how a component talks to the API server",
    "rollout": "how many old revisions are kept; here all are",
}
# What is said of a kind other than that it is modelled.
SAID_OF_KIND = {
    "Namespace": "its labels are read by affinity between pods",
    "Application": "Argo CD: automated sync with self-heal is a GitOps reconciler",
    "EndpointSlice": "listed: the endpoint controller makes those of pods anew; others lead out of the cluster",
    "Ingress": "which Services it leads to, so that traffic ends later",
    "PodDisruptionBudget": "asked by drains, maintenance and the descheduler; a preference of preemption",
    "PriorityClass": "decides the order of the queue and preemption; system classes are always there",
}
# Fields that are read and checked without an effect on the model.
WITHOUT_EFFECT = {
    "spec.minReadySeconds",
    "spec.progressDeadlineSeconds",
    "spec.template.spec.restartPolicy",
    "spec.restartPolicy",
    'spec.template.metadata.annotations["controller.kubernetes.io/pod-deletion-cost"]',
}


PREFIXES = ("spec.template.metadata", "spec.template.spec", "metadata", "spec", "status", "profiles[]", "")
# Mappings whose keys are the user's, and lists of which every field is read: listed as one field.
OPEN_MAPS = re.compile(
    r"(labels|matchLabels|nodeSelector|allocatable|capacity|requests|limits|overhead|plugins\.\w+"
    r"|(?:matchExpressions|matchFields|taints|tolerations|resources|shape|policies|conditions)\[\])[.\[].*"
)
# What a loop does, where the first words of its module do not say it all.
DOES = {
    "controllers.deployment": "creates and sizes ReplicaSets: rollouts, rollbacks, Recreate, proportional scaling",
    "controllers.hpa.controller": "sets spec.replicas from metrics; every `hpa.syncPeriod`, default 15 s",
    "controllers.descheduler.controller": "evicts pods by the plugins below; every `descheduler.interval`, default 5m",
    "controllers.job": "creates, counts and replaces pods that end by themselves, until the Job is done or has failed",
    "controllers.cronjob": "starts Jobs by a schedule: Allow, Forbid, Replace",
    "controllers.gitops": "puts objects back to their manifests; every `gitops.interval`, default 3m",
    "controllers.vpa.controller": "recommends requests, and evicts pods whose own are out of bounds, or that are older "
    "than 12 hours and 10 % off; every minute",
    "controllers.endpoints": "stop sending traffic to pods that terminate, within `endpoints.lag` and `ingress.lag`",
    "controllers.cluster_autoscaler.controller": "adds nodes for pods that fit nowhere, deletes unneeded ones; "
    "every `clusterAutoscaler.scanInterval`, default 10s",
    "events.drain": "cordons, waits until the node is empty, takes it down for maintenance and brings it back, "
    "or deletes it",
}
# Fields that tables list as harmless where nobody reads them, while readers of other types do.
READ_ELSEWHERE = {
    "Object": {"apiVersion", "kind", "metadata", "status"},
    "ObjectMeta": {"name", "namespace", "labels", "annotations", "ownerReferences"},
    "NodeStatus": {"capacity"},
    "DeploymentSpec": {"progressDeadlineSeconds"},
}


def page() -> str:
    """The whole page."""
    parts = [
        HEAD,
        *_versions(),
        *_kinds(),
        *_read_fields(),
        *_other_fields(),
        *_plugins(),
        *_descheduler_plugins(),
        *_loops(),
        *_settings(),
        *_flags(),
        *_events(),
        *_intents(),
        *_abstractions(),
    ]
    return "\n".join(parts).rstrip() + "\n"


HEAD = """# What is modelled

Generated by `tools/generate_modelled.py` from the tables of the code; do not edit. Every report lists, with file and
line, what of *your* input is not modelled.
"""


def _versions() -> Iterator[str]:
    yield "## Versions\n"
    oldest, newest = in_words(versions.OLDEST), in_words(versions.NEWEST)
    yield f"- Kubernetes {oldest} to {newest}: `spec.kubernetesVersion` of the Scenario, default {newest}"
    oldest, newest = in_words(versions.OLDEST_DESCHEDULER), in_words(versions.NEWEST_DESCHEDULER)
    yield f"- descheduler {oldest} to {newest}: `spec.deschedulerVersion` of the Scenario, default {newest}\n"
    yield "Fields and rules by version, as the code asks for them. A gated field is dropped (or the object refused)"
    yield "by the API server while the gate is off by default: the model ignores it, and the report lists it.\n"
    rows = [
        (
            f"{rule.component} {in_words(rule.since)}" if rule.since != versions.NOT_YET else "off by default",
            rule.says,
            f"`{rule.gate}`" if rule.gate else "",
            ", ".join(f"{kind} `{name}`" for kind, name in rule.fields) + (" (refused)" if rule.refuses else ""),
        )
        for rule in versions.RULES.values()
    ]
    yield from _table(("since", "rule", "gate", "fields"), rows)


def _kinds() -> Iterator[str]:
    yield "## Kinds\n"
    yield "Objects of other kinds are listed in the report and otherwise ignored. `kind: List` is unpacked."
    yield "NetworkPolicies are what [`network verify`](network.md) is about.\n"
    rows = [
        (f"`{kind}`", ", ".join(f"`{version}`" for version in known), SAID_OF_KIND.get(kind, "modelled"))
        for kind, known in ((one.name, one.versions) for one in READ_KINDS.values())
    ]
    yield from _table(("kind", "apiVersion", ""), rows)


# -- fields -----------------------------------------------------------------------------------------


def _read_fields() -> Iterator[str]:
    yield "## Fields that are read\n"
    yield "A star marks fields that are checked and have no effect on the model. ReplicaSets and Pods take the same pod"
    yield "fields as Deployments.\n"
    for kind, paths in read_fields().items():
        yield f"- **{kind}**"
        for prefix in PREFIXES:
            names = [path for path in paths if _home(path) == prefix]
            if names:
                said = f"`{prefix}`: " if prefix else ""
                yield f"  - {said}{', '.join(_starred(kind, path, prefix) for path in names)}"
    yield ""


def _home(path: str) -> str:
    """The longest prefix under which a path is listed."""
    return next(prefix for prefix in PREFIXES if not prefix or path.startswith(f"{prefix}."))


def _starred(kind: str, path: str, prefix: str) -> str:
    name = path[len(prefix) + 1 :] if prefix else path
    has_no_effect = path in WITHOUT_EFFECT and kind != JOB  # whose pods end, so that their restartPolicy matters
    return f"`{name}` \\*" if has_no_effect else f"`{name}`"


def read_fields() -> dict[str, list[str]]:
    """The leaf fields that readers asked for while loading the sample, by kind."""
    asked: set[tuple[str, str]] = set()
    with _recording(asked):
        loaded = load_texts([(SAMPLE.name, SAMPLE.read_text(encoding="utf-8"))])
    left_out = [omission for omission in loaded.omissions if omission.what.startswith(("field", "unknown"))]
    if left_out:
        raise SystemExit(f"{SAMPLE.name} holds fields that are not read: {left_out}")
    found: dict[str, list[str]] = {kind: [] for kind in READ_KINDS if kind != "Scenario"}
    for kind, path in sorted(asked):
        is_inner = any(other[0] == kind and re.match(rf"{re.escape(path)}[.\[]", other[1]) for other in asked)
        if kind in found and not is_inner and path not in ("apiVersion", "kind"):
            found[kind].append(path)
    return {kind: paths for kind, paths in found.items() if paths}


@contextmanager
def _recording(asked: set[tuple[str, str]]) -> Iterator[None]:
    """Notes the kind and path of every field with a value that a reader asks for."""
    plain = fields.Fields.value

    def value(self: fields.Fields, key: str) -> object:
        kind = self.log.owner.partition("/")[0]
        if self.has(key):
            path = re.sub(r"\[\d+\]", "[]", self.path_of(key))
            asked.add((kind, OPEN_MAPS.sub(r"\1", path)))
        return plain(self, key)

    fields.Fields.value = value  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        fields.Fields.value = plain  # type: ignore[method-assign]


def _other_fields() -> Iterator[str]:
    yield "## Fields that are not modelled\n"
    yield "Reports list them when the input has them. So they do with fields that the Kubernetes API does not know.\n"
    for schema, known in FIELDS.items():
        names = [name for name, reason in known.items() if reason is None]
        if names:
            yield f"- **{schema}**: {_code(names)}"
    yield "\n## Fields that cannot change a verdict\n"
    for reason, meaning in REASONS.items():
        yield f"- *{meaning}*: " + "; ".join(
            f"{schema} {_code(names)}"
            for schema, known in FIELDS.items()
            if (names := [n for n, why in known.items() if why == reason and n not in READ_ELSEWHERE.get(schema, ())])
        )
    yield ""


# -- behaviour --------------------------------------------------------------------------------------


def _plugins() -> Iterator[str]:
    yield "## Scheduler plugins\n"
    yield "Filters run in this order (up to 1.36 NodeUnschedulable before NodeName). Weights are upstream's defaults,"
    yield "unless a profile sets others.\n"
    filters = [name for name, _ in (*registry.NODE_FILTERS, *registry.CLUSTER_FILTERS)]
    names = dict.fromkeys((*filters, *registry.SCORE_ORDER))
    rows = [(name, "yes" if name in filters else "", str(registry.DEFAULT_WEIGHTS.get(name, ""))) for name in names]
    yield from _table(("plugin", "filters", "weight of its score"), rows)
    others = sorted(scheduler_config.PLUGINS - set(names) - {scheduler_config.PREEMPTION, "PrioritySort"})
    yield "`PrioritySort` orders the queue, and `DefaultPreemption` makes room for pods that fit nowhere.\n"
    yield "`NodeResourcesFit` scores by LeastAllocated, MostAllocated or RequestedToCapacityRatio.\n"
    yield f"Known by name in a profile, not modelled: {', '.join(others)}.\n"


def _descheduler_plugins() -> Iterator[str]:
    yield "## Descheduler plugins\n"
    yield "In the order of their extension points; arguments that are not listed have no effect.\n"
    rows = [
        (name, known.point, _code(sorted(known.arguments)))
        for name, known in sorted(cycle.PLUGINS.items(), key=lambda item: (item[1].point != cycle.DESCHEDULE, item[0]))
    ]
    rows.append((evictor.NAME, "filter, preEvictionFilter", _code(sorted(evictor.MODELLED))))
    yield from _table(("plugin", "point", "arguments that are read"), rows)
    yield "Ages, for PodLifeTime and `minPodAge`, count from the moment a pod gets its node; pods of the start are"
    yield "older than any age asked for. Restarts are those of `podCrash`, counted up to 6. Usage means requests.\n"


def _loops() -> Iterator[str]:
    yield "## Control loops\n"
    template = PodTemplate(containers=(Container("c"),))
    web = Workload("Deployment", "default", "web", template)
    others = [Workload(kind, "default", kind.lower(), template) for kind in (DAEMON_SET, STATEFUL_SET, JOB)]
    cron = Workload(CRON_JOB, "default", "backup", template, cron=CronRules((3600,)))
    setup = Setup(
        nodes=(Node("n", group="g"),),
        workloads=(web, replace(web, name="api"), *others, cron),  # a vertical autoscaler gives the first one requests
        settings=Settings(gitops_interval_s=180),
        autoscalers=(HorizontalPodAutoscaler("default", "web", web.ref, 1, 2, ()),),
        descheduler=DeschedulerPolicy(()),
        cluster_autoscaler=ClusterAutoscaler((NodeGroup("g", 0, 1, Node("n")),)),
        verticals=(VerticalPodAutoscaler("default", "web", web.ref),),
    )
    setup = with_sizes(setup, (), ())
    drain = (Drain(name="drain"),)
    layout = make_layout(setup, mentions(setup, (), (), ()))
    loops = (*build_controllers(layout, drain), *adjusting_loops(layout, drain).loops)
    loops = (*loops, *endpoint_loops(layout, {0: (1, NEVER)}))
    loops += group_loops(layout, drain, 0, ()).loops
    loops += vertical_loops(layout, drain, 0).loops
    rows = []
    for module in dict.fromkeys(inspect.getmodule(type(loop)) for loop in loops):
        assert module is not None
        place = module.__name__.removeprefix("kubeproof.")
        said = (module.__doc__ or "").split("\n\n")[0]
        name, _, does = " ".join(said.split()).partition(": ")
        rows.append((name.rstrip("."), DOES.get(place, does.rstrip(".")), f"`{place}`"))
    yield from _table(("loop", "what it does", "module"), rows)


def _settings() -> Iterator[str]:
    yield "## Settings of control loops\n"
    yield "What lives in flags: under `controllers` of a [Scenario](scenario.md#speccontrollers); defaults.\n"
    rows = [(f"`{key}`", _default(value)) for key, value in settings_with_defaults().items()]
    yield from _table(("setting", "default"), rows)


def settings_with_defaults() -> dict[str, object]:
    """Every setting that the readers of a Scenario know, and what holds without it."""
    settings, scaling = Settings(), ClusterAutoscaler(())
    return {
        "nodeLifecycle.monitorGracePeriod": f"{settings.grace_s}s",
        "kubelet.startup": settings.startup_s,
        "hpa.syncPeriod": f"{settings.hpa_period_s}s",
        "hpa.tolerance": settings.hpa_tolerance_permille / 1000,
        "hpa.downscaleStabilization": f"{settings.downscale_stabilization_s}s",
        "descheduler.interval": f"{settings.descheduler_interval_s}s",
        "endpoints.lag": f"{settings.endpoints_lag_s}s",
        "ingress.lag": f"{settings.ingress_lag_s}s",
        "gitops.interval": f"{controller_settings._GITOPS_INTERVAL_S}s",
        "gitops.selfHeal": True,
        "vpa.margin": settings.vpa_margin_permille / 1000,
        "vpa.history": f"{settings.vpa_history_s}s",
        "clusterAutoscaler.groups": "none: no cluster autoscaler",
        "clusterAutoscaler.expander": ", ".join(scaling.expander_chain(settings.kubernetes_version)),
        "clusterAutoscaler.priorities": "none",
        "clusterAutoscaler.balanceSimilarNodeGroups": scaling.balances,
        "clusterAutoscaler.provisioning": scaling.provisioning_s,
        "clusterAutoscaler.maxNodesTotal": scaling.most_nodes,
        "clusterAutoscaler.scanInterval": f"{scaling.scan_interval_s}s",
        "clusterAutoscaler.scaleDownEnabled": scaling.scales_down,
        "clusterAutoscaler.scaleDownUtilizationThreshold": scaling.utilization_permille / 1000,
        "clusterAutoscaler.ignoreDaemonSetsUtilization": scaling.ignores_daemon_sets,
        "clusterAutoscaler.scaleDownUnneededTime": f"{scaling.unneeded_s}s",
        "clusterAutoscaler.scaleDownUnreadyEnabled": scaling.removes_unready,
        "clusterAutoscaler.scaleDownUnreadyTime": f"{scaling.unready_s}s",
        "clusterAutoscaler.scaleDownDelayAfterAdd": f"{scaling.delay_after_add_s}s",
        "clusterAutoscaler.scaleDownDelayAfterFailure": f"{scaling.delay_after_failure_s}s",
        "clusterAutoscaler.skipNodesWithLocalStorage": scaling.skips_local_storage,
        "clusterAutoscaler.skipNodesWithSystemPods": scaling.skips_system_pods,
    }


def _default(value: object) -> str:
    if isinstance(value, tuple):
        return f"{value[0]}s to {value[1]}s"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _flags() -> Iterator[str]:
    yield "## Flags\n"
    yield "Read from `command` and `args` where the input runs the component itself; the Scenario overrides them. Other"
    yield "flags that may matter are listed in the report.\n"
    rows = [
        (name, f"`--{flag}`", f"`{section}.{key}`")
        for name, component in COMPONENTS.items()
        for flag, (section, key, _) in component.flags.items()
    ]
    rows.append(
        (AUTOSCALER, f"`--{NODES}=MIN:MAX:NAME`", "`clusterAutoscaler.groups`: nodes with a label of value NAME")
    )
    rows.append((DESCHEDULER, f"`--{DRY_RUN}`", "no descheduler"))
    rows.append((DESCHEDULER, "`spec.schedule` of its CronJob", "`descheduler.interval`"))
    yield from _table(("component", "flag", "setting"), rows)


def _events() -> Iterator[str]:
    yield "## Events\n"
    yield f"All others are refused ([reference](events.md)): {_code(manuals())}.\n"


def _intents() -> Iterator[str]:
    yield "## Intents\n"
    keys = ", ".join(f"`{entry.key}` ({entry.id})" for entry in catalogue())
    yield f"All others are refused ([reference](intents.md)): {keys}.\n"


def _abstractions() -> Iterator[str]:
    yield "## Abstractions\n"
    yield "What the model leaves out whatever the input says; [abstractions](../explanation/abstractions.md) tells in"
    yield "which direction each may err.\n"
    text = ABSTRACTIONS.read_text(encoding="utf-8")
    yield from (f"- {name}" for name in re.findall(r"^\| \*\*(.+?)\*\*", text, re.MULTILINE))


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def main(arguments: list[str]) -> int:
    """Writes or checks the page."""
    if arguments == ["--check"]:
        is_current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page()
        print("current" if is_current else "stale: run python tools/generate_modelled.py")
        return 0 if is_current else 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
