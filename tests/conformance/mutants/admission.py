"""Wrong rules of pod admission that the corpora must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

CORPUS = "pod-admission"
QUOTA = "controllers/admission/quota.py"
LIMITS = "controllers/admission/limit_ranger.py"
READER = "manifests/kinds/quotas.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a quota refuses pods that ask for nothing once it is exceeded",
        QUOTA,
        "return max(0, free // each) if each else ENDLESS",
        "return max(0, free // each) if each else ENDLESS * (free >= 0)",
        CORPUS,
    ),
    Mutant(
        "pods that are stuck are charged",
        QUOTA,
        "number = pods.pods + pods.stuck if name == COUNT else pods.pods",
        "number = pods.pods + pods.stuck",
        CORPUS,
    ),
    Mutant(
        "pods that are stuck do not count as objects",
        QUOTA,
        "number = pods.pods + pods.stuck if name == COUNT else pods.pods",
        "number = pods.pods",
        CORPUS,
    ),
    Mutant(
        "init containers need not say what they ask for",
        QUOTA,
        "any(resource not in amounts_of(c) for c in (*template.containers, *template.init_containers))",
        "any(resource not in amounts_of(c) for c in template.containers)",
        CORPUS,
    ),
    Mutant(
        "a quota of limits is content with requests",
        QUOTA,
        'amounts_of = limits_of if kind == "limits" else requests_of',
        "amounts_of = requests_of",
        CORPUS,
    ),
    Mutant(
        "overhead brings a limit of its own",
        QUOTA,
        "LIMITS_WITH_ANY_OVERHEAD_BEFORE = versions.LIMITS_WITH_GIVEN_OVERHEAD.since",
        "LIMITS_WITH_ANY_OVERHEAD_BEFORE = (1, 99)",
        CORPUS,
    ),
    Mutant(
        "requests of zero make a pod more than best effort",
        QUOTA,
        "return not any(amounts.get(name) for amounts in asked for name in NEEDED)",
        "return not any(name in amounts for amounts in asked for name in NEEDED)",
        CORPUS,
    ),
    Mutant(
        "pods with a deadline are not terminating to a quota",
        QUOTA,
        '"Terminating": lambda template, _: template.has_deadline,',
        '"Terminating": lambda template, _: False,',
        CORPUS,
    ),
    Mutant(
        "affinity to other namespaces is known by their selector only",
        QUOTA,
        "any(term.namespaces or term.namespace_selector is not None for term in terms)",
        "any(term.namespace_selector is not None for term in terms)",
        CORPUS,
    ),
    Mutant(
        "a default limit is not a default request",
        READER,
        "requests = {**least, **limits, **requests}",
        "requests = {**least, **requests}",
        CORPUS,
    ),
    Mutant(
        "the minimum goes before the default limit",
        READER,
        "requests = {**least, **limits, **requests}",
        "requests = {**limits, **least, **requests}",
        CORPUS,
    ),
    Mutant(
        "the maximum is no default limit",
        READER,
        "limits = {**most, **limits}",
        "limits = {**limits}",
        CORPUS,
    ),
    Mutant(
        "a maximum is kept by a container without a limit",
        LIMITS,
        "if name not in limits or limits[name] > most or requests.get(name, 0) > most:",
        "if limits.get(name, 0) > most or requests.get(name, 0) > most:",
        CORPUS,
    ),
    Mutant(
        "a minimum is kept by a container without a request",
        LIMITS,
        "if requests.get(name, -1) < least or limits.get(name, least) < least:",
        "if requests.get(name, least) < least or limits.get(name, least) < least:",
        CORPUS,
    ),
    Mutant(
        "a pod's sum exists for what any container names, in 1.26",
        LIMITS,
        "SUMS_OF_ANY_SINCE = versions.SUMS_OF_ANY.since",
        "SUMS_OF_ANY_SINCE = (1, 20)",
        CORPUS,
        "kubernetes-1.26",
    ),
    Mutant(
        "the ratio of limit to request may be met from above",
        LIMITS,
        "limit / request * 1000 > ratio_milli",
        "limit / request * 1000 >= ratio_milli",
        CORPUS,
    ),
)
