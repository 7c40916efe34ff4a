"""Versions and controller settings of a Scenario: what Kubernetes keeps in flags."""

from __future__ import annotations

import re
from dataclasses import replace

from kubeproof.cluster.api.versions import NEWEST, NEWEST_DESCHEDULER, OLDEST, OLDEST_DESCHEDULER
from kubeproof.cluster.objects import Settings
from kubeproof.manifests.scenarios.events.chances import read_start_times
from kubeproof.manifests.yaml.durations import read_seconds
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.shares import read_permille
from kubeproof.manifests.yaml.tree import Mapping, Sequence

_VERSION = re.compile(r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]{1,3})?", re.ASCII)
LEAST_MARGIN = 1000  # thousandths
_MOST_JOBS = 50  # of one CronJob at once: each is a workload of its own
_GITOPS_INTERVAL_S = 180  # how often Argo CD looks by default


def read_settings(spec: Fields) -> Settings:
    """The settings, upstream's defaults where nothing is said; unknown ones are refused."""
    settings = Settings(
        kubernetes_version=_version(spec, "kubernetesVersion", OLDEST, NEWEST) or NEWEST,
        descheduler_version=_version(spec, "deschedulerVersion", OLDEST_DESCHEDULER, NEWEST_DESCHEDULER)
        or NEWEST_DESCHEDULER,
    )
    controllers = spec.child("controllers")
    if controllers is None:
        return settings
    settings = _startup(controllers, replace(settings, monitor_grace_s=_monitor_grace(controllers)))
    settings = _gitops(controllers, _autoscaler(controllers, _descheduler(controllers, settings)))
    settings = _cron_job(controllers, _vertical(controllers, settings))
    settings = replace(
        settings,
        endpoints_lag_s=_lag(controllers, "endpoints", settings.endpoints_lag_s),
        ingress_lag_s=_lag(controllers, "ingress", settings.ingress_lag_s),
    )
    controllers.ignore("clusterAutoscaler")  # read with the nodes
    controllers.finish_strictly()
    return settings


def _version(spec: Fields, key: str, oldest: tuple[int, int], newest: tuple[int, int]) -> tuple[int, int] | None:
    """A minor version within bounds; its text is exact, so an unquoted 1.30 stays 1.30."""
    text = spec.number(key)
    if text is None:
        return None
    match = _VERSION.fullmatch(text)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if not oldest <= version <= newest:
        bounds = f'From "{oldest[0]}.{oldest[1]}" to "{newest[0]}.{newest[1]}"'
        spec.fail(key, f"is {printable(text)!r}, which is not modelled", remedy=bounds)
    return version


def _descheduler(controllers: Fields, settings: Settings) -> Settings:
    fields = controllers.child("descheduler")
    if fields is None:
        return settings
    interval = _period(fields, "interval", settings.descheduler_interval_s)
    fields.finish_strictly()
    return replace(settings, descheduler_interval_s=interval)


def _autoscaler(controllers: Fields, settings: Settings) -> Settings:
    fields = controllers.child("hpa")
    if fields is None:
        return settings
    window = read_seconds(fields, "downscaleStabilization")
    settings = replace(
        settings,
        hpa_period_s=_period(fields, "syncPeriod", settings.hpa_period_s),
        hpa_tolerance_permille=read_permille(fields, "tolerance", settings.hpa_tolerance_permille),
        downscale_stabilization_s=settings.downscale_stabilization_s if window is None else window,
    )
    fields.finish_strictly()
    return settings


def _vertical(controllers: Fields, settings: Settings) -> Settings:
    fields = controllers.child("vpa")
    if fields is None:
        return settings
    margin = read_permille(fields, "margin", settings.vpa_margin_permille)
    if margin < LEAST_MARGIN:
        fields.fail("margin", "is below 1", remedy="Write 1.15 for 15 % more than is used")
    history = _period(fields, "history", settings.vpa_history_s)
    fields.finish_strictly()
    return replace(settings, vpa_margin_permille=margin, vpa_history_s=history)


def _cron_job(controllers: Fields, settings: Settings) -> Settings:
    fields = controllers.child("cronJob")
    if fields is None:
        return settings
    most = fields.integer("maxJobs", least=1, most=_MOST_JOBS)
    fields.finish_strictly()
    return replace(settings, max_cron_jobs=most)


def _gitops(controllers: Fields, settings: Settings) -> Settings:
    """A reconciler that does not heal drift writes nothing: the input is what Git says all the time."""
    fields = controllers.child("gitops")
    if fields is None:
        return settings
    interval = _period(fields, "interval", _GITOPS_INTERVAL_S)
    heals = fields.boolean("selfHeal")
    fields.finish_strictly()
    return replace(settings, gitops_interval_s=None if heals is False else interval)


def _lag(controllers: Fields, key: str, default: int) -> int:
    """How long a change takes to be known everywhere, at most."""
    fields = controllers.child(key)
    if fields is None:
        return default
    seconds = read_seconds(fields, "lag")
    fields.finish_strictly()
    return default if seconds is None else seconds


def _period(fields: Fields, key: str, default: int) -> int:
    """A duration above zero."""
    seconds = read_seconds(fields, key)
    if seconds == 0:
        fields.fail(key, "is zero", remedy="Write a duration of at least 1s")
    return default if seconds is None else seconds


def _monitor_grace(controllers: Fields) -> int | None:
    lifecycle = controllers.child("nodeLifecycle")
    if lifecycle is None:
        return None
    grace = read_seconds(lifecycle, "monitorGracePeriod")
    lifecycle.finish_strictly()
    return grace


def _startup(controllers: Fields, settings: Settings) -> Settings:
    """From binding to running: one duration, min and max, or durations with probabilities."""
    kubelet = controllers.child("kubelet")
    if kubelet is None or not kubelet.has("startup"):
        return settings
    value = kubelet.value("startup")
    if isinstance(value, Sequence):
        choices = read_start_times(kubelet)
        times = [seconds for seconds, _ in choices]
        settings = replace(settings, startup_s=(min(times), max(times)), startup_choices=choices)
    elif isinstance(value, Mapping):
        settings = replace(settings, startup_s=_startup_range(kubelet))
    else:
        exact = read_seconds(kubelet, "startup") or 0
        settings = replace(settings, startup_s=(exact, exact))
    kubelet.finish_strictly()
    return settings


def _startup_range(kubelet: Fields) -> tuple[int, int]:
    bounds = kubelet.require_child("startup")
    least, most = read_seconds(bounds, "min"), read_seconds(bounds, "max")
    bounds.finish_strictly()
    if least is None or most is None or least > most:
        kubelet.fail("startup", "needs min and max, min not above max", remedy="Write {min: 1s, max: 5s}")
    return least, most
