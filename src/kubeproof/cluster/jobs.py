"""Jobs: their conditions, and what the API server adds to their pods."""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.objects import PodTemplate

# Conditions of a Job, as states store them; the second and the fourth are on the way to the third and the last.
NONE, FAILURE_TARGET, FAILED_FOR_GOOD, SUCCESS_MET, COMPLETE = range(5)
REPLACED = 5  # no condition: a CronJob deleted it to start another, which nobody but properties asks for
ENDED = (FAILED_FOR_GOOD, COMPLETE)

JOB_NAME = "batch.kubernetes.io/job-name"
OLD_JOB_NAME = "job-name"


def label_job_pods(template: PodTemplate, job: str) -> PodTemplate:
    """The pods with the labels that tell which Job they belong to."""
    return replace(template, labels=as_labels(dict(template.labels) | {JOB_NAME: job, OLD_JOB_NAME: job}))
