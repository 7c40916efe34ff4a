"""Components of a cluster whose flags are read where they run as workloads of the input, and what their flags mean.

Each modelled flag has the place under a Scenario's `controllers` that says the same, and the form of its value there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from kubeproof.cluster.nodes.node_groups import EXPANDERS
from kubeproof.manifests.yaml.durations import parse_seconds
from kubeproof.values import dataclass

AUTOSCALER, DESCHEDULER, MANAGER = "cluster-autoscaler", "descheduler", "kube-controller-manager"
NODES, DRY_RUN = "nodes", "dry-run"  # read in a way of their own
_NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3})?", re.ASCII)
_INTEGER = re.compile(r"[0-9]{1,6}", re.ASCII)
_BOOLEANS = {"true": "true", "false": "false", "1": "true", "0": "false"}


def _duration(text: str) -> str | None:
    seconds = parse_seconds(text)
    return None if seconds is None else f"{seconds}s"


def _period(text: str) -> str | None:
    return _duration(text) if parse_seconds(text) else None


def as_boolean(text: str) -> str | None:
    """A boolean as YAML has it."""
    return _BOOLEANS.get(text.lower())


def _share(text: str) -> str | None:
    return text if _NUMBER.fullmatch(text) and float(text) <= 1 else None


def as_integer(text: str) -> str | None:
    """A number of up to six digits."""
    return text if _INTEGER.fullmatch(text) else None


def _expander(text: str) -> str | None:
    return text if all(name.strip() in EXPANDERS for name in text.split(",")) else None


Read = Callable[[str], str | None]  # a flag's value as the Scenario has it; None if it cannot be read


@dataclass(frozen=True, slots=True)
class Component:
    """The flags of a component: those that are modelled, and what is said of the others."""

    flags: Mapping[str, tuple[str, str, Read]]  # flag -> (section and key under `controllers`, reader)
    ignored: tuple[str, ...] = ()  # beginnings of flags that cannot change a verdict
    listed: frozenset[str] | None = None  # only these of the others are listed; None: all


_CONNECTION = (
    *("v", "vmodule", "log", "alsologtostderr", "stderrthreshold", "skip-headers", "skip-log", "add-dir-header"),
    *("one-output", "kube", "leader-elect", "namespace", "address", "bind-address", "secure-port", "cert-dir", "tls"),
    *("profiling", "client-connection", "user-agent", "otel", "help", "version"),
)
COMPONENTS: dict[str, Component] = {
    AUTOSCALER: Component(
        {
            "expander": ("clusterAutoscaler", "expander", _expander),
            "scan-interval": ("clusterAutoscaler", "scanInterval", _period),
            "max-nodes-total": ("clusterAutoscaler", "maxNodesTotal", as_integer),
            "balance-similar-node-groups": ("clusterAutoscaler", "balanceSimilarNodeGroups", as_boolean),
            "scale-down-enabled": ("clusterAutoscaler", "scaleDownEnabled", as_boolean),
            "scale-down-utilization-threshold": ("clusterAutoscaler", "scaleDownUtilizationThreshold", _share),
            "ignore-daemonsets-utilization": ("clusterAutoscaler", "ignoreDaemonSetsUtilization", as_boolean),
            "scale-down-unneeded-time": ("clusterAutoscaler", "scaleDownUnneededTime", _duration),
            "scale-down-unready-enabled": ("clusterAutoscaler", "scaleDownUnreadyEnabled", as_boolean),
            "scale-down-unready-time": ("clusterAutoscaler", "scaleDownUnreadyTime", _duration),
            "scale-down-delay-after-add": ("clusterAutoscaler", "scaleDownDelayAfterAdd", _duration),
            "scale-down-delay-after-failure": ("clusterAutoscaler", "scaleDownDelayAfterFailure", _duration),
            "skip-nodes-with-local-storage": ("clusterAutoscaler", "skipNodesWithLocalStorage", as_boolean),
            "skip-nodes-with-system-pods": ("clusterAutoscaler", "skipNodesWithSystemPods", as_boolean),
        },
        ignored=(
            *_CONNECTION,
            *("cloud-", "cluster-name", "regional", "aws-", "gce-", "clusterapi-", "write-status", "status-config-map"),
            *("emit-per-nodegroup", "record-duplicated", "debugging-snapshot", "health-check", "max-inactivity"),
        ),
    ),
    DESCHEDULER: Component(
        {"descheduling-interval": ("descheduler", "interval", _period)},
        ignored=(*_CONNECTION, "policy-config-file", "disable-metrics"),
    ),
    MANAGER: Component(
        {
            "horizontal-pod-autoscaler-sync-period": ("hpa", "syncPeriod", _period),
            "horizontal-pod-autoscaler-tolerance": ("hpa", "tolerance", _share),
            "horizontal-pod-autoscaler-downscale-stabilization": ("hpa", "downscaleStabilization", _duration),
            "node-monitor-grace-period": ("nodeLifecycle", "monitorGracePeriod", _duration),
        },
        listed=frozenset(
            {
                *("controllers", "feature-gates", "node-eviction-rate", "secondary-node-eviction-rate"),
                *("large-cluster-size-threshold", "unhealthy-zone-threshold", "node-monitor-period"),
                *("horizontal-pod-autoscaler-cpu-initialization-period", "terminated-pod-gc-threshold"),
                "horizontal-pod-autoscaler-initial-readiness-delay",
            }
        ),
    ),
}
