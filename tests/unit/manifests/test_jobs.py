"""Jobs and CronJobs as they are read: defaults, and what is refused where."""

from __future__ import annotations

import pytest

from kubeproof.cluster.objects import ALLOW, FORBID, CronRules, JobRules
from kubeproof.errors import ManifestError
from kubeproof.events.declarations import Completes
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded

NODE = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: '1', memory: 1Gi, pods: '9'}}}"
POD = "template: {spec: {restartPolicy: Never, containers: [{name: c}]}}"


def job(spec: str = "", pod: str = POD, status: str = "") -> str:
    return f"""apiVersion: batch/v1
kind: Job
metadata: {{name: load}}
spec:
  {pod}
  {spec}
{status}"""


def cron(spec: str = "", schedule: str = "*/5 * * * *", job_spec: str = "", name: str = "backup") -> str:
    return f"""apiVersion: batch/v1
kind: CronJob
metadata: {{name: {name}}}
spec:
  schedule: "{schedule}"
  {spec}
  jobTemplate:
    spec:
      {POD}
      {job_spec}
"""


def loaded(*texts: str) -> Loaded:
    return load_texts([("nodes.yaml", NODE), *((f"{number}.yaml", text) for number, text in enumerate(texts))])


def test_a_job_without_numbers_runs_one_pod_to_completion() -> None:
    (read,) = loaded(job()).setup.workloads

    assert (read.ref, read.replicas, read.job) == ("Job/default/load", 1, JobRules())
    assert dict(read.template.labels) == {"batch.kubernetes.io/job-name": "load", "job-name": "load"}


def test_parallelism_alone_makes_a_work_queue() -> None:
    (read,) = loaded(job("parallelism: 3")).setup.workloads

    assert (read.replicas, read.job.completions) == (3, None)


def test_every_rule_of_a_job_is_read() -> None:
    spec = (
        "parallelism: 2\n  completions: 5\n  completionMode: Indexed\n  backoffLimit: 0\n  activeDeadlineSeconds: 60\n"
        "  ttlSecondsAfterFinished: 0\n  suspend: true\n  podReplacementPolicy: Failed"
    )
    pod = POD.replace("Never", "OnFailure")
    (read,) = loaded(job(spec, pod)).setup.workloads

    assert read.job == JobRules(5, True, 0, 60, 0, True, True, True)


def test_a_pod_failure_policy_makes_only_failed_pods_replaced_and_is_listed() -> None:
    read = loaded(job("podFailurePolicy: {rules: []}"))

    assert read.setup.workloads[0].job.only_failed
    assert any("spec.podFailurePolicy" in omission.what for omission in read.omissions)


@pytest.mark.parametrize(
    "field",
    ["backoffLimitPerIndex: 1", "maxFailedIndexes: 1", "managedBy: example.com/me", "successPolicy: {rules: []}"],
)
def test_what_is_not_modelled_is_listed(field: str) -> None:
    read = loaded(job(f"completions: 2\n  completionMode: Indexed\n  {field}"))

    assert any(f"spec.{field.split(':')[0]}" in omission.what for omission in read.omissions)


def test_a_readiness_probe_of_a_job_is_listed_and_left_out() -> None:
    pod = "template: {spec: {restartPolicy: Never, containers: [{name: c, readinessProbe: {httpGet: {port: 80}}}]}}"
    read = loaded(job(pod=pod))

    assert read.setup.workloads[0].template.readiness is None
    assert any("readiness probes of a Job's pods" in omission.what for omission in read.omissions)


def test_a_finished_job_is_left_out() -> None:
    read = loaded(job(status="status: {conditions: [{type: Complete, status: 'True'}]}"))

    assert read.setup.workloads == ()
    assert any("already finished" in omission.why for omission in read.omissions)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            job(pod="template: {spec: {containers: [{name: c}]}}"),
            "0.yaml:5: Job/load: spec.template.spec.restartPolicy",
        ),
        (job(pod=POD.replace("Never", "Always")), "restartPolicy is 'Always'. Pods of Jobs restart OnFailure or Never"),
        (job("parallelism: 2\n  completionMode: Indexed"), "Job/load: spec.completions is required"),
        (job("completionMode: Sorted"), "0.yaml:6: Job/load: spec.completionMode"),
        (job("backoffLimit: -1"), "0.yaml:6: Job/load: spec.backoffLimit is -1"),
        (job("backoffLimitPerIndex: 1"), "spec.backoffLimitPerIndex needs completionMode: Indexed"),
        (
            job("podFailurePolicy: {}\n  podReplacementPolicy: TerminatingOrFailed"),
            "0.yaml:7: Job/load: spec.podReplace",
        ),
        (job("podReplacementPolicy: Never"), "0.yaml:6: Job/load: spec.podReplacementPolicy"),
        (cron(schedule="61 * * * *"), "0.yaml:5: CronJob/backup: spec.schedule is '61 * * * *'"),
        (cron("concurrencyPolicy: Maybe"), "0.yaml:6: CronJob/backup: spec.concurrencyPolicy"),
        (cron(job_spec="selector: {matchLabels: {a: b}}"), "spec.jobTemplate.spec.selector is given"),
        (cron(name="b" * 53), "metadata.name is longer than 52 characters"),
    ],
)
def test_a_wrong_job_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ManifestError) as refused:
        loaded(text)

    assert message in str(refused.value)


def test_a_cron_job_starts_jobs_side_by_side_unless_it_says_otherwise() -> None:
    (allow,) = loaded(cron()).setup.workloads
    (forbid,) = loaded(cron("concurrencyPolicy: Forbid\n  suspend: true")).setup.workloads

    assert (allow.cron, allow.job) == (CronRules((300,), ALLOW), JobRules())
    assert forbid.cron == CronRules((300,), FORBID, suspended=True)


def test_a_starting_deadline_and_a_time_zone_are_listed() -> None:
    read = loaded(cron("startingDeadlineSeconds: 60\n  timeZone: Europe/Berlin"))

    told = [omission.what for omission in read.omissions]
    assert [
        key for key in ("startingDeadlineSeconds", "timeZone") if not any(f"spec.{key}" in what for what in told)
    ] == []


SCENARIO = """apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: s}}
spec:
  events: [{event}]
  intents: [{{completes: {{}}}}]
"""


@pytest.mark.parametrize(
    ("fields", "least_s", "most_s"),
    [("after: 60s", 60, 60), ("after: 1m, within: 5m", 60, 300), ("target: Job/load, after: 0s", 0, 0)],
)
def test_how_long_pods_of_jobs_run(fields: str, least_s: int, most_s: int) -> None:
    read = loaded(job(), SCENARIO.format(event=f"{{completes: {{{fields}}}}}"))

    assert read.scenario.events == (
        Completes(name="completes-1", target="Job/default/load", least_s=least_s, most_s=most_s),
    )
    assert [intent.name for intent in read.scenario.intents] == ["completes Job/default/load"]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("{completes: {}}", "after is required"),
        ("{completes: {after: 60}}", "after has no unit. Write a duration such as 40s or 1m30s"),
        ("{completes: {after: 60s, within: 5s}}", "within is less than after"),
        ("{completes: {after: 60s, max: 2}}", "max has no meaning here"),
        ("{neverReady: {target: Job/load}}", "is a Job, whose pods end whether they are ready or not"),
        ("{scale: {target: Job/load, replicas: [2]}}", "has no replicas"),
    ],
)
def test_a_wrong_event_on_a_job_is_refused(event: str, message: str) -> None:
    with pytest.raises(ManifestError) as refused:
        loaded(job(), SCENARIO.format(event=event))

    assert message in str(refused.value)


def test_a_cron_job_is_not_placed() -> None:
    text = """apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec: {start: {placement: {CronJob/backup: {n1: 1}}}, intents: [{settles: {}}]}
"""
    with pytest.raises(ManifestError, match=r"1\.yaml:4: .* starts Jobs of its own"):
        loaded(cron(), text)
