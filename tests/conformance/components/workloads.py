"""Corpora of the workloads."""

from __future__ import annotations

from tests.conformance.corpus import Corpus
from tests.conformance.decide import owners as decide_owners
from tests.conformance.decide import victims
from tests.conformance.decide import workloads as decide
from tests.conformance.inputs import owners
from tests.conformance.inputs import workloads as inputs

KUBERNETES = ("kubernetes-1.26", "kubernetes-1.37")

CORPORA: tuple[Corpus, ...] = (
    Corpus(
        "deployment-rollouts",
        "Deployment: rollouts",
        KUBERNETES,
        "deployments",
        inputs.rollout,
        5_000,
        decide=decide.rollout,
        decisions=len,
        unit="syncs",
    ),
    Corpus(
        "deployment-proportional",
        "Deployment: proportional scaling",
        KUBERNETES,
        "deployments",
        inputs.proportional,
        3_000,
        decide=decide.rollout,
        explain=decide.explain_rollout,
        differences=(
            (
                decide.DIVISION,
                "In v1.26 a ReplicaSet whose max-replicas annotation somebody set to 0 (or removed, while the "
                "Deployment reports no replicas) gets a share divided by zero: sizes such as -2147483648, which "
                "depend on the processor and which the API server refuses, or shares of other ReplicaSets distorted by "
                "it. Only sizes differ. Our model follows v1.37, which takes status.replicas instead, and no share if "
                "that is 0, too.",
            ),
        ),
    ),
    Corpus(
        "replicaset-victims",
        "ReplicaSet: victims of a scale-down",
        KUBERNETES,
        "replicasets",
        inputs.scale_down,
        10_500,  # of which over 10,000 keep some pods, so that the order decides
        decide=victims.victims,
    ),
    Corpus(
        "statefulset-steps",
        "StatefulSet: pods created and deleted",
        KUBERNETES,
        "owners",
        owners.statefulset,
        2_000,
        decide=decide_owners.statefulset,
    ),
    Corpus(
        "daemonset-decisions",
        "DaemonSet: pods created and deleted",
        KUBERNETES,
        "owners",
        owners.daemonset,
        2_000,
        decide=decide_owners.daemonset,
    ),
    Corpus(
        "job-syncs",
        "Job: pods created and deleted",
        KUBERNETES,
        "owners",
        owners.job,
        2_000,
        decide=decide_owners.job,
    ),
    Corpus(
        "job-later-syncs",
        "Job: pods created and deleted after earlier syncs",
        KUBERNETES,
        "owners",
        owners.later_job,
        2_000,
        decide=decide_owners.job,
    ),
)
