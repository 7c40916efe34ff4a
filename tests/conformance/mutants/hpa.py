"""Wrong rules of the hpa that the corpora must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

HPA = "controllers/hpa"
DECISIONS, SERIES = "hpa-decisions", "hpa-series"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "hpa: the CPU of failed pods counts",
        f"{HPA}/samples.py",
        "if facts.is_deleted or facts.is_failed:",
        "if facts.is_deleted:",
        DECISIONS,
    ),
    Mutant(
        "hpa: the CPU initialization period includes its last second",
        f"{HPA}/samples.py",
        "facts.age_s < settings.cpu_initialization_s",
        "facts.age_s <= settings.cpu_initialization_s",
        DECISIONS,
    ),
    Mutant(
        "hpa: a pod is taken for never ready one second longer",
        f"{HPA}/samples.py",
        "facts.age_s - facts.ready_changed_s < settings.readiness_delay_s",
        "facts.age_s - facts.ready_changed_s <= settings.readiness_delay_s",
        DECISIONS,
    ),
    Mutant(
        "hpa: a sample is trusted without a whole window since the pod turned ready",
        f"{HPA}/samples.py",
        "not facts.is_ready or since_change_s < settings.sample_window_s",
        "not facts.is_ready",
        DECISIONS,
    ),
    Mutant(
        "hpa: missing pods count as idle on a scale-down",
        f"{HPA}/calculator.py",
        "target.assumed_when_low(s.request or 0)",
        "0",
        DECISIONS,
    ),
    Mutant(
        "hpa: missing pods never count above their request",
        f"{HPA}/calculator.py",
        "max(100, self.value)",
        "100",
        DECISIONS,
    ),
    Mutant(
        "hpa: the proposal is rounded down",
        f"{HPA}/calculator.py",
        "Computed(ceil(ratio * float(pods))",
        "Computed(int(ratio * float(pods))",
        DECISIONS,
    ),
    Mutant(
        "hpa: assumed values may turn the direction by their number",
        f"{HPA}/calculator.py",
        "(second < 1.0 and replicas > current) or (second > 1.0 and replicas < current)",
        "second == 1.0",
        DECISIONS,
    ),
    Mutant(
        "hpa: a ratio on the edge of the tolerance is outside",
        f"{HPA}/behavior.py",
        "1.0 - self.down <= ratio <= 1.0 + self.up",
        "1.0 - self.down < ratio < 1.0 + self.up",
        DECISIONS,
    ),
    Mutant(
        "hpa: a ratio of 1.1 is within tolerance before 1.33",
        f"{HPA}/behavior.py",
        "abs(1.0 - ratio) <= self.up",
        "1.0 - self.up <= ratio <= 1.0 + self.up",
        DECISIONS,
        "kubernetes-1.26",
    ),
    Mutant(
        "hpa: a failed metric does not forbid scaling down",
        f"{HPA}/combine.py",
        "if failed and largest < current:",
        "if failed and largest > current:",
        DECISIONS,
    ),
    Mutant(
        "hpa: minReplicas and maxReplicas are swapped",
        f"{HPA}/combine.py",
        'return Forced(maximum, f"{current} replicas are above',
        'return Forced(minimum, f"{current} replicas are above',
        SERIES,
    ),
    Mutant(
        "hpa: no downscale stabilization without behavior",
        f"{HPA}/normalise.py",
        "max([proposal, *_recent(history, window_s)])",
        "proposal",
        SERIES,
    ),
    Mutant(
        "hpa: the stabilization window of scaleUp is dropped",
        f"{HPA}/normalise.py",
        "min([proposal, *_recent(history, up_s)])",
        "proposal",
        SERIES,
    ),
    Mutant(
        "hpa: a stabilization window includes its last second",
        f"{HPA}/normalise.py",
        "if each.age_s < window_s",
        "if each.age_s <= window_s",
        SERIES,
    ),
    Mutant(
        "hpa: Percent rounds down on the way up",
        f"{HPA}/normalise.py",
        "return ceil(float(start)",
        "return int(float(start)",
        SERIES,
    ),
    Mutant(
        "hpa: Percent on the way down is computed in integers",
        f"{HPA}/normalise.py",
        "int(float(start) * (1 - float(policy.value) / 100))",
        "start * (100 - policy.value) // 100",
        SERIES,
    ),
    Mutant(
        "hpa: Percent on the way up is computed in integers",
        f"{HPA}/normalise.py",
        "ceil(float(start) * (1 + float(policy.value) / 100))",
        "-(-start * (100 + policy.value) // 100)",
        SERIES,
    ),
    Mutant(
        "hpa: a new event takes the place of the first outdated one",
        f"{HPA}/history.py",
        "events[outdated[-1]] =",
        "events[outdated[0]] =",
        SERIES,
    ),
    Mutant(
        "hpa: a container that a pod lacks is an error before 1.35",
        f"{HPA}/samples.py",
        "CONTAINER_REQUIRED_SINCE = (1, 35)",
        "CONTAINER_REQUIRED_SINCE = (1, 26)",
        DECISIONS,
        "kubernetes-1.26",
    ),
    Mutant(
        "hpa: the strictest policy decides under Max",
        f"{HPA}/normalise.py",
        'return max(current, min(allowed) if rules.select == "Min" else max(allowed))',
        "return max(current, min(allowed))",
        SERIES,
    ),
    Mutant(
        "hpa: what was removed in the period does not count for scaling up",
        f"{HPA}/history.py",
        "if event.age_s < period_s)",
        "if event.age_s < period_s and event.change > 0)",
        SERIES,
    ),
    Mutant(
        "hpa: the API's default for scaleUp adds one pod only",
        "manifests/autoscalers.py",
        'ScalingPolicy("Pods", 4, 15)',
        'ScalingPolicy("Pods", 1, 15)',
        SERIES,
    ),
)
