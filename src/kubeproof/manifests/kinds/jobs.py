"""Jobs and CronJobs."""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.jobs import JOB_NAME, label_job_pods
from kubeproof.cluster.kinds import CRON_JOB, JOB
from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import ALLOW, FORBID, REPLACE, CronRules, JobRules, PodTemplate, Workload
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.kinds.workloads import ReadWorkload
from kubeproof.manifests.pods.selectors import selector_of
from kubeproof.manifests.pods.templates import read_template
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

_ON_FAILURE, _NEVER = "OnFailure", "Never"
_LONGEST_NAME = 52  # of a CronJob: its Jobs add eleven characters


def read_job(fields: Fields) -> ReadWorkload:
    """A Job after defaulting: one pod at a time, one completion, six failures forgiven."""
    metadata = read_metadata(fields)
    spec = fields.require_child("spec")
    template, rules, parallelism = _read_spec(spec)
    selector = LabelSelector((Requirement(JOB_NAME, "In", (metadata.name,)),))
    if spec.has("selector"):
        selector = selector_of(spec.require_child("selector"))
    workload = Workload(
        kind=JOB,
        namespace=metadata.namespace,
        name=metadata.name,
        template=label_job_pods(template, metadata.name),
        replicas=parallelism,
        selector=selector,
        source=fields.source,
        replicas_given=spec.has("parallelism"),
        job=rules,
    )
    spec.finish("JobSpec")
    fields.finish("Object")
    return ReadWorkload(workload, metadata.owner, spec.has("parallelism"), finished=_has_finished(fields))


def read_cron_job(fields: Fields) -> ReadWorkload:
    """A CronJob after defaulting: Jobs may run side by side."""
    metadata = read_metadata(fields)
    if len(metadata.name) > _LONGEST_NAME:
        fields.require_child("metadata").fail(
            "name", f"is longer than {_LONGEST_NAME} characters", remedy="Its Jobs add eleven: shorten it"
        )
    spec = fields.require_child("spec")
    cron = _cron_rules(spec)
    job = spec.require_child("jobTemplate")
    template, rules, parallelism = _read_job_template(job)
    workload = Workload(
        kind=CRON_JOB,
        namespace=metadata.namespace,
        name=metadata.name,
        template=template,
        replicas=parallelism,
        source=fields.source,
        replicas_given=False,
        job=rules,
        cron=cron,
    )
    spec.finish("CronJobSpec")
    fields.finish("Object")
    return ReadWorkload(workload, metadata.owner, replicas_given=False)


def _read_job_template(fields: Fields) -> tuple[PodTemplate, JobRules, int]:
    metadata = fields.child("metadata")
    spec = fields.require_child("spec")
    found = _read_spec(spec)
    if metadata is not None:
        metadata.finish("ObjectMeta")
    if spec.has("selector"):
        spec.fail("selector", "is given", remedy="The API server makes up the selector of every Job: remove it")
    spec.finish("JobSpec")
    fields.finish("JobTemplate")
    return found


def _read_spec(spec: Fields) -> tuple[PodTemplate, JobRules, int]:
    """The pods, the rules and the parallelism of a Job."""
    template, restarts = _template(spec)
    parallelism, completions = spec.integer("parallelism"), spec.integer("completions")
    if parallelism is None and completions is None:
        completions = 1  # only then: parallelism alone makes a work queue
    limit = spec.integer("backoffLimit")
    if limit is None:
        limit = 6
    rules = JobRules(
        completions=completions,
        indexed=_is_indexed(spec, completions),
        backoff_limit=limit,
        deadline_s=spec.integer("activeDeadlineSeconds"),
        ttl_s=spec.integer("ttlSecondsAfterFinished"),
        suspended=spec.boolean("suspend") or False,
        only_failed=_replaces_failed_only(spec),
        restarts=restarts,
    )
    return template, rules, 1 if parallelism is None else parallelism


def _is_indexed(spec: Fields, completions: int | None) -> bool:
    indexed = spec.word("completionMode", ("NonIndexed", "Indexed"), "NonIndexed") == "Indexed"
    if indexed and completions is None:
        spec.fail("completions", "is required", remedy="An Indexed Job says how many indexes it has")
    for key in ("backoffLimitPerIndex", "successPolicy"):
        if spec.has(key) and not indexed:
            spec.fail(key, "needs completionMode: Indexed", remedy="Add it, or remove this field")
    return indexed


def _replaces_failed_only(spec: Fields) -> bool:
    policies = ("TerminatingOrFailed", "Failed")
    default = "Failed" if spec.has("podFailurePolicy") else "TerminatingOrFailed"
    policy = spec.word("podReplacementPolicy", policies, default)
    if spec.has("podFailurePolicy") and policy != "Failed":
        spec.fail("podReplacementPolicy", f"is {policy}", remedy="With a podFailurePolicy it must be Failed")
    return policy == "Failed"


def _template(spec: Fields) -> tuple[PodTemplate, bool]:
    """The pod template, and whether its containers are restarted when they fail.

    A pod of a Job counts as ready as soon as it runs: nobody waits for its readiness.
    """
    fields = spec.require_child("template")
    metadata, pod = fields.child("metadata"), fields.require_child("spec")
    policy = pod.text("restartPolicy") or ""
    if policy not in (_ON_FAILURE, _NEVER):
        problem = f"is {printable(policy)!r}" if policy else "is required"
        pod.fail("restartPolicy", problem, remedy="Pods of Jobs restart OnFailure or Never")
    template = read_template(metadata, pod, only_always=False, ends=True)
    if metadata is not None:
        metadata.finish("ObjectMeta")
    fields.finish("PodTemplate")
    if template.readiness is not None:
        pod.log.omit("readiness probes of a Job's pods", line=pod.line_of("containers"))
    return replace(template, readiness=None), policy == _ON_FAILURE


def _has_finished(fields: Fields) -> bool:
    """True if the status says that the Job is Complete or Failed."""
    status = fields.child("status")
    if status is None:
        return False
    conditions = status.children("conditions")
    return any(
        condition.text("type") in ("Complete", "Failed") and condition.text("status") == "True"
        for condition in conditions
    )


def _cron_rules(spec: Fields) -> CronRules:
    from kubeproof.manifests.kinds.cron import gaps_of  # calendars: most inputs have no use for them

    schedule = spec.require_text("schedule")
    gaps = gaps_of(schedule)
    if gaps is None:
        remedy = 'Write five fields such as "*/5 * * * *", or @hourly; time zones go to timeZone'
        spec.fail("schedule", f"is {printable(schedule)!r}", remedy=remedy)
    if spec.integer("startingDeadlineSeconds") is not None:
        spec.omit("startingDeadlineSeconds", "a start may come late by any time")
    policy = spec.word("concurrencyPolicy", (ALLOW, FORBID, REPLACE), ALLOW)
    return CronRules(gaps, policy, spec.boolean("suspend") or False)
