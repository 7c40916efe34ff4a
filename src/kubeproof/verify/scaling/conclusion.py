"""From the answers of all sizes to one verdict per intent, and the words around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from kubeproof.engine.stopped import INTERRUPTED
from kubeproof.intents.declarations import Intent
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.checks.run import run_checks
from kubeproof.verify.findings.left_out import find_left_out, list_omissions, with_caveats
from kubeproof.verify.holds_for import HoldsFor
from kubeproof.verify.planning import plan_of
from kubeproof.verify.resize import Size, resize
from kubeproof.verify.result import IntentResult, Statistics, VerifyResult
from kubeproof.verify.scaling.above import PROVED, is_proved
from kubeproof.verify.scaling.plan import SweepPlan
from kubeproof.verify.scaling.result import SizeAnswer, SizeVerdict, SizeWord, Skipped, Sweep
from kubeproof.verify.words.summary import abstractions, claim, combine, intent_result, scope

NO_PROOFS: Mapping[str, HoldsFor] = MappingProxyType({})
PER_SIZE = ("nodes", "workloads", "autoscalers", "explored")  # parts of the scope that differ from size to size


def conclude(
    plan: SweepPlan,
    answers: Sequence[SizeAnswer],
    proofs: Mapping[str, HoldsFor] = NO_PROOFS,
    *,
    is_interrupted: bool = False,
) -> VerifyResult:
    """The result of a sweep; `answers` are those of the first sizes, the others were not tried.

    What no size violates stays open if the sweep was interrupted before its last size.
    """
    last = resize(plan.loaded, plan.scale, plan.sizes[max(0, len(answers) - 1)])
    model = plan_of(last, plan.options)
    statistics = _sum(answers)
    if is_interrupted:
        statistics = replace(statistics, stopped_by=INTERRUPTED)
    sweep = _sweep(plan, answers)
    results: list[IntentResult] = []
    for number, intent in enumerate(plan.loaded.scenario.intents):
        blank = intent_result(last, model, number, Verdict.HOLDS, statistics)
        found = _over_all(intent, blank, plan, answers, sweep, is_interrupted=is_interrupted)
        results += _for_any_size(found, proofs.get(intent.name), intent, sweep)
    results = [_without_sizes(one) for one in with_caveats(last, model, results)]
    shared = [pair for pair in scope(last, model, statistics) if pair[0] not in PER_SIZE]
    omitted = list_omissions(plan.loaded)
    return VerifyResult(
        scenario=plan.loaded.scenario.name,
        verdict=_overall(plan, results),
        scope=(
            *shared,
            *_sizes_in_words(plan, sweep),
            *_bounds_in_words(plan, last),
            *(("abstraction", note) for note in abstractions(last, model)),
        ),
        results=tuple(results),
        not_modelled=(*omitted, *find_left_out(model)),
        statistics=statistics,
        inputs=plan.loaded.texts,
        sweep=sweep,
        checks=run_checks(plan.loaded),
    )


def worst(verdicts: Iterable[SizeWord], *, holds: Verdict) -> Verdict:
    """The verdict over several: a violation outweighs all, then errors, then what stayed open.

    What holds in each is `holds` over all of them, unless none says anything.
    """
    found = set(verdicts)
    for verdict in (Verdict.VIOLATED, Verdict.ERROR, Verdict.UNKNOWN):
        if verdict in found:
            return verdict
    return Verdict.VACUOUS if found == {Verdict.VACUOUS} else holds


def _overall(plan: SweepPlan, results: Sequence[IntentResult]) -> Verdict:
    """The verdict over all intents: HOLDS only if each of them holds for any size, or says nothing."""
    verdicts = {one.verdict for one in results}
    is_any = Verdict.HOLDS in verdicts and not verdicts & {Verdict.HOLDS_BOUNDED, Verdict.SAMPLED_OK}
    return worst(verdicts, holds=Verdict.HOLDS if is_any else _holds(plan))


def _for_any_size(
    found: list[IntentResult], proof: HoldsFor | None, intent: Intent, sweep: Sweep
) -> list[IntentResult]:
    """The results of one intent with what is proved of any size: HOLDS if that covers all sizes that say something."""
    (first, *others) = found
    if proof is None or others or first.verdict not in (Verdict.HOLDS_BOUNDED, Verdict.SAMPLED_OK):
        return found
    said = f"proved for {proof.describe()}, counts following the size: {claim(intent)}"
    left = [line for line in sweep.sizes if line.verdict != Skipped.TRIVIAL and not is_proved(line.size, proof)]
    if left or sweep.is_thinned:
        return [replace(first, detail=f"{first.detail}; so it is at {proof.describe()}", holds_for=proof)]
    return [replace(first, verdict=Verdict.HOLDS, detail=said, holds_for=proof)]


def _without_sizes(one: IntentResult) -> IntentResult:
    """What something that is not modelled leaves open holds at no other size either."""
    return replace(one, holds_for=None) if one.verdict == Verdict.UNKNOWN else one


def _holds(plan: SweepPlan) -> Verdict:
    return Verdict.SAMPLED_OK if plan.is_thinned else Verdict.HOLDS_BOUNDED


def _sweep(plan: SweepPlan, answers: Sequence[SizeAnswer]) -> Sweep:
    tried = [_line(size, answer) for size, answer in zip(plan.sizes, answers, strict=False)]
    rest = [SizeVerdict(size, Skipped.NOT_TRIED) for size in plan.sizes[len(answers) :]]
    return Sweep((*tried, *rest), _describe_bound(plan), plan.limit, plan.esc, plan.is_thinned)


def _line(size: Size, answer: SizeAnswer) -> SizeVerdict:
    numbers = answer.statistics
    return SizeVerdict(size, answer.verdict, numbers.states, numbers.transitions, numbers.elapsed_s, answer.note)


def _describe_bound(plan: SweepPlan) -> str:
    """How far the sizes go, in words."""
    ranges = [_range(name, [dict(s.nodes)[name] for s in plan.sizes], "x") for name, _ in plan.sizes[0].nodes]
    ranges += [_range(ref, [dict(s.pods)[ref] for s in plan.sizes], "pods of") for ref, _ in plan.sizes[0].pods]
    text = ", ".join(ranges)
    if plan.limit is not None:
        text += f"; at most {plan.limit.nodes} nodes of each kind and {plan.limit.pods_per_node} pods per node"
    return text


def _range(name: str, numbers: Sequence[int], between: str) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least} {between} {name}" if least == most else f"{least} to {most} {between} {name}"


def _sizes_in_words(plan: SweepPlan, sweep: Sweep) -> list[tuple[str, str]]:
    counts = [(sweep.count(Skipped.TRIVIAL), "trivial"), (sweep.count(Skipped.NOT_TRIED), "larger ones not tried")]
    proved = sum(line.note == PROVED for line in sweep.sizes)
    counts.append((proved, PROVED))
    verified = len(sweep.sizes) - sum(count for count, _ in counts)
    parts = [f"{verified:,} verified", *(f"{count:,} {word}" for count, word in counts if count)]
    thinned = " (fast-find: some of many)" if plan.is_thinned else ""
    found = [("sizes", f"{len(sweep.sizes):,}{thinned}: {', '.join(parts)}"), ("bound", sweep.bound)]
    if plan.esc is not None:
        basis = ", ".join(f"{one.case} {one.nodes} and {one.pods}" for one in plan.esc.basis)
        found.append(("ESC", f"{plan.esc.nodes} nodes, {plan.esc.pods_per_node} pods per node: twice the most among "
                      f"the smallest clusters that fail (nodes and pods: {basis})"))  # fmt: skip
    without = [line for line in sweep.sizes if line.verdict == Verdict.VACUOUS and line.note]
    if without:
        found.append(("no start", f"{len(without):,} sizes: {without[0].note}, e.g. {in_words(without[0].size)}"))
    return found


def _bounds_in_words(plan: SweepPlan, last: Loaded) -> list[tuple[str, str]]:
    """The autoscalers, whose bounds follow the sizes of their workloads unless they have a rule of their own."""
    scaled = {workload.target: workload for workload in plan.scale.workloads}
    told = []
    for given, there in zip(plan.loaded.setup.autoscalers, last.setup.autoscalers, strict=True):
        text = f"{given.namespace}/{given.name}: {given.target} {given.min_replicas} to {given.max_replicas}"
        scale = scaled.get(given.target)
        if scale is not None:
            by_rule = scale.autoscaler_min is not None and scale.autoscaler_max is not None
            how = "by their rules" if by_rule else "keeping their distance from the replicas"
            text += f", bounds follow {how}: {there.min_replicas} to {there.max_replicas} at the last size tried"
        told.append(text)
    return [("autoscalers", ", ".join(told))] if told else []


def in_words(size: Size) -> str:
    """A size for readers: `2 x node-a1, 1 x node-b1, 6 pods of Deployment/shop/web`."""
    nodes = [f"{count} x {name}" for name, count in size.nodes if count]
    return ", ".join([*nodes, *(f"{count} pods of {ref}" for ref, count in size.pods)])


def _sum(answers: Sequence[SizeAnswer]) -> Statistics:
    ran = [answer.statistics for answer in answers if answer.statistics.engine]
    return combine(ran) if ran else Statistics()


def _over_all(
    intent: Intent,
    blank: IntentResult,
    plan: SweepPlan,
    answers: Sequence[SizeAnswer],
    sweep: Sweep,
    *,
    is_interrupted: bool,
) -> list[IntentResult]:
    """The results of one intent: its violations at the smallest violated size, or one for all sizes."""
    own = [[one for one in answer.results if one.intent == intent.name] for answer in answers]
    for number, found in enumerate(own):
        broken = [one for one in found if one.verdict == Verdict.VIOLATED]
        if broken:
            smaller = _smaller(plan, answers[:number])
            return [replace(one, detail=f"{one.detail}; {smaller}") for one in broken]
    failed = next((a for a in answers if a.verdict == Verdict.ERROR and not a.results), None)
    flat = [one for found in own for one in found]
    verdict = Verdict.ERROR if failed is not None else worst((one.verdict for one in flat), holds=_holds(plan))
    if is_interrupted and verdict != Verdict.ERROR:
        verdict = Verdict.UNKNOWN
    open_one = next((one for one in flat if one.verdict == verdict), None)
    told = failed.note if failed is not None else open_one.detail if open_one else _claim(intent, verdict, sweep)
    tried = plan.sizes[: max(1, len(answers))]
    return [
        replace(
            blank,
            verdict=verdict,
            detail=told,
            nodes=max(one.nodes for one in flat) if flat else 0,
            pods=max((one.pods for one in flat), default=max(size.pod_total for size in tried)),
        )
    ]


def _smaller(plan: SweepPlan, before: Sequence[SizeAnswer]) -> str:
    """What is known of the sizes before the violated one."""
    undecided = sum(answer.verdict in (Verdict.UNKNOWN, Verdict.ERROR) for answer in before)
    if undecided:
        return f"{undecided:,} smaller sizes are undecided"
    return "fast-find: smaller sizes may fail, too" if plan.is_thinned else "no smaller size fails"


def _claim(intent: Intent, verdict: Verdict, sweep: Sweep) -> str:
    """One sentence on an intent that no size breaks."""
    said = claim(intent)
    if verdict == Verdict.VACUOUS:
        return f"at no size any run comes to a state this speaks about: {said}"
    verified = len(sweep.sizes) - sweep.count(Skipped.TRIVIAL, Skipped.NOT_TRIED)
    if verdict == Verdict.UNKNOWN:
        return f"not decided, the sweep was interrupted after {verified:,} of {len(sweep.sizes):,} sizes: {said}"
    which = "sizes looked at" if verdict == Verdict.SAMPLED_OK else "sizes"
    return f"proved for every run at each of {verified:,} {which}, counts following the size: {said}"
