"""Saved JSON results as values again: what `replay` and `report` read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.inaction import Field
from kubeproof.cluster.objects import Source
from kubeproof.cluster.scale import Limit
from kubeproof.engine.stopped import StoppedBy, StopReason
from kubeproof.errors import ManifestError
from kubeproof.manifests.loaded import Group, Sort
from kubeproof.manifests.yaml.printable import printable
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Answered, PassedOver, Reason
from kubeproof.verify.dependence import Apart, DependsOn
from kubeproof.verify.explained import Cause, Causes, Explanation, Inaction, Remedy, Repair
from kubeproof.verify.facts import Fact
from kubeproof.verify.holds_for import HoldsFor, Tie
from kubeproof.verify.matrix.result import Cell, Column, Grade, Matrix, Row
from kubeproof.verify.resize import Size
from kubeproof.verify.result import (
    Change,
    CheckFinding,
    IntentResult,
    OmittedGroup,
    Statistics,
    Suppression,
    SuppressionNote,
    Trace,
    TraceStep,
    VerifyResult,
)
from kubeproof.verify.scaling.esc import Esc, Minimum
from kubeproof.verify.scaling.heatmap import WORST_FIRST
from kubeproof.verify.scaling.result import SizeVerdict, Sweep

NUMBERS = ("states", "transitions", "depth", "memo_calls", "memo_misses", "start_states")
SEVERITIES = ("info", "warning", "error")
_ID = re.compile(r"[A-Za-z0-9_-]{0,40}", re.ASCII)
_WORDS = re.compile(r"[A-Za-z0-9 ,_-]{0,200}", re.ASCII)
Json = Mapping[str, Any]
W = TypeVar("W", bound=str)


@dataclass(frozen=True, slots=True)
class Saved:
    """A result from a file; whatever goes wrong with it is told with the file's name."""

    path: str
    result: VerifyResult

    def choose(self, intent: str | None) -> IntentResult:
        """The first violation that has a counterexample, or that of the intent named.

        A cell of a matrix is named by its workload and its fault: `web nodeLoss`, `Deployment/shop/web rollout+drain`.
        """
        traced = [one for one in self.result.results if one.trace is not None]
        traced.sort(key=lambda one: not one.is_decisive)
        if intent is not None:
            traced = [one for one in traced if intent in (one.intent, one.id) or _is_cell(one, intent.split())]
        if not traced:
            which = f" for {intent}" if intent else ""
            raise unusable(self.path, f"holds no counterexample{which}; only violated intents have one")
        return next((one for one in traced if one.is_decisive), traced[0])


def _is_cell(one: IntentResult, words: Sequence[str]) -> bool:
    known = {one.target, one.target.rpartition("/")[2], "+".join(one.faults)}
    return bool(one.faults and words) and known.issuperset(words)


def read_saved(path: str) -> Saved:
    """The result that `verify -o json` wrote to this file."""
    document = _read(path)
    try:
        return Saved(path, _result(document))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise no_result(path, error) from error


def no_result(path: str, error: Exception) -> ManifestError:
    """The file holds JSON, but not a result of ours."""
    return unusable(path, f"not a result of kubeproof verify -o json ({error})")


def unusable(path: str, problem: str, *, line: int = 1) -> ManifestError:
    """The file cannot be used."""
    return ManifestError(problem, file=printable(path), line=line, remedy="Give a file written by verify -o json=FILE")


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise unusable(path, f"cannot be read: {error.strerror}", line=0) from error
    except (ValueError, RecursionError) as error:
        raise unusable(path, f"not JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("results"), list):
        raise unusable(path, "holds no results")
    return document


def _result(document: Json) -> VerifyResult:
    return VerifyResult(
        scenario=str(document.get("scenario", "")),
        verdict=_one_of(tuple(Verdict), document.get("verdict", "")),
        scope=tuple((str(key), str(value)) for key, value in document.get("scope", {}).items()),
        results=tuple(_intent(one) for one in document["results"]),
        not_modelled=_strings(document.get("not_modelled", ())),
        statistics=_statistics(document.get("statistics", {})),
        inputs=tuple((str(file["name"]), str(file["text"])) for file in document["input"]["files"]),
        sweep=_sweep(document["sweep"]) if document.get("sweep") else None,
        suppressions=tuple(_note(note) for note in document.get("suppressions", ())),
        omitted=tuple(_read_omitted(one) for one in document.get("not_modelled_kinds", ())),
        matrix=_matrix(document) if "matrix" in document else None,
        checks=tuple(_check(one) for one in document.get("checks", ())),
    )


def _check(one: Json) -> CheckFinding:
    return CheckFinding(
        id=_like(_ID, one["id"]),
        key=str(one.get("key", "")),
        severity=_one_of(SEVERITIES, one.get("severity", "error")),
        target=str(one.get("target", "")),
        message=str(one.get("message", "")),
        remedy=str(one.get("remedy", "")),
        source=_place(one.get("location", {})),
        also=tuple((str(place["object"]), _place(place)) for place in one.get("objects", ())),
        suppression=_suppression(one["suppression"]) if one.get("suppression") else None,
    )


def _intent(one: Json) -> IntentResult:
    scale = one.get("scale", {})
    return IntentResult(
        id=_like(_ID, one.get("id", "")),
        intent=str(one["intent"]),
        key=str(one.get("key", "")),
        target=str(one.get("target", "")),
        verdict=_one_of(tuple(Verdict), one.get("verdict", "")),
        detail=str(one.get("detail", "")),
        nodes=int(scale.get("nodes", 0)),
        pods=int(scale.get("pods", 0)),
        states=int(one.get("states", 0)),
        transitions=int(one.get("transitions", 0)),
        trace=None if one.get("trace") is None else _trace(one),
        remedy=str(one.get("remedy", "")),
        explanation=_explanation(one["explanation"]) if one.get("explanation") else None,
        causes=_causes(one["causes"]) if one.get("causes") else None,
        repairs=tuple(map(_repair, one.get("repairs", ()))),
        sources=tuple((str(place["object"]), _place(place)) for place in one.get("objects", ())),
        location=_place(one.get("location", {})),
        size=_numbers(one.get("size") or {}),
        severity=_one_of(SEVERITIES, one.get("severity", "error")),
        suppression=_suppression(one["suppression"]) if one.get("suppression") else None,
        faults=_strings(one.get("faults", ())),
        strategy=_strategy(one["strategy"]) if one.get("strategy") else None,
        depends_on=_depends_on(one["depends_on"]) if one.get("depends_on") else None,
        holds_for=_holds_for(one["holds_for"]) if one.get("holds_for") else None,
    )


def _holds_for(given: Json) -> HoldsFor:
    replicas = given["replicas"]
    return HoldsFor(
        nodes=tuple((str(kind), int(told["min"])) for kind, told in given["nodes"].items()),
        target=str(given["target"]),
        least=int(replicas["min"]),
        most=None if replicas["max"] is None else int(replicas["max"]),
        ties=tuple(Tie(int(tie["replicas"]), _numbers(tie["nodes"]), int(tie["plus"])) for tie in given["room"]),
        argument=_like(_ID, given["argument"]),
        reason=_strings(given.get("reason", ())),
    )


def _depends_on(given: Json) -> DependsOn:
    nodes = given.get("nodes", {})
    groups = given.get("not_on", ())
    aside = (Apart(ref, str(one["field"]), str(one["why"])) for one in groups for ref in _strings(one["objects"]))
    return DependsOn(
        objects=_strings(given.get("objects", ())),
        labels=_strings(nodes.get("labels", ())),
        resources=_strings(nodes.get("resources", ())),
        nodes=int(nodes.get("count", 0)),
        events=_strings(given.get("events", ())),
        not_on=tuple(aside),
    )


def _strategy(given: Json) -> Answered:
    before = tuple(
        PassedOver(_like(_ID, one["name"]), _one_of(tuple(Reason), one["reason"]), str(one.get("detail", "")))
        for one in given.get("before", ())
    )
    return Answered(_like(_ID, given.get("name", "")), _like(_ID, given.get("model", "")), before)


def _suppression(given: Json) -> Suppression:
    place = _place(given.get("location", {}))
    return Suppression(str(given["kind"]), str(given["reason"]), place, str(given.get("expires", "")))


def _note(note: Json) -> SuppressionNote:
    return SuppressionNote(_suppression(note), str(note["id"]), str(note["target"]), str(note["status"]))


def _trace(one: Json) -> Trace:
    loop_start = one.get("loop_start")
    return Trace(
        steps=tuple(_step(step) for step in one["trace"]),
        loop_start=None if loop_start is None else int(loop_start),
        loop_certainty=_like(_WORDS, one.get("loop_certainty") or ""),
        final=_facts(one),
        deployed_steps=int(one.get("deployed_steps", 0)),
        propositions=tuple((str(name), str(text)) for name, text in one.get("propositions", {}).items()),
        begins_with=_strings(one.get("holds_at_start", ())),
        obstacles=tuple((str(found["by"]), str(found["reason"])) for found in one.get("obstacles", ())),
        inaction=tuple(map(_inaction, one.get("inaction", ()))),
    )


def _cause(given: Json) -> Cause:
    return Cause(
        object=str(given["object"]),
        field=str(given["field"]),
        value=str(given["value"]),
        place=_place(given),
        instead=str(given["instead"]),
        decides=bool(given["decides"]),
    )


def _causes(given: Json) -> Causes:
    lost_after = given["lost_after"]
    return Causes(
        needed=tuple(map(_cause, given["needed"])),
        lost_after=None if lost_after is None else int(lost_after),
        is_exact=bool(given["is_exact"]),
        tried=int(given["tried"]),
        is_complete=bool(given["is_complete"]),
        core=tuple(map(_cause, given.get("core", ()))),
        together=tuple(map(_cause, given.get("together", ()))),
    )


def _repair(given: Json) -> Repair:
    return Repair(
        number=int(given["number"]),
        edits=_strings(given["edits"]),
        gives_up=_strings(given["gives_up"]),
        costs=str(given["costs"]),
        diff=str(given["diff"]),
        patch=str(given["patch"]),
    )


def _explanation(given: Json) -> Explanation:
    changes = tuple(map(_remedy, given.get("changes", ())))
    return Explanation(str(given["happens"]), _strings(given["why"]), str(given["change"]), changes)


def _remedy(given: Json) -> Remedy:
    fields = given.get("fields", ())
    return Remedy(
        says=str(given["says"]),
        fields=tuple(Field(str(one["object"]), str(one["field"])) for one in fields),
        rule=_like(_ID, given.get("rule", "")),
        places=tuple(map(_place, given.get("places", ()))),
    )


def _inaction(given: Json) -> Inaction:
    return Inaction(
        actor=_actor(given),
        object=str(given["object"]),
        rule=_like(_ID, given["rule"]),
        says=str(given["says"]),
        change=str(given["change"]),
        numbers=tuple(
            (str(name), told if isinstance(told, int) else str(told)) for name, told in given["numbers"].items()
        ),
        step=None if given["step"] is None else int(given["step"]),
        fields=tuple(Field(str(one["object"]), str(one["field"])) for one in given.get("fields", ())),
    )


def _facts(one: Json) -> tuple[Fact, ...]:
    """What is wrong in the end; of a file that does not tell the parts, the sentences alone."""
    said = _strings(one.get("final", ()))
    parts = one.get("facts") or [{}] * len(said)
    keys = ("about", "node", "shape")
    pairs = zip(said, parts, strict=True)
    return tuple(Fact(text, *(str(part.get(key, "")) for key in keys)) for text, part in pairs)


def _step(step: Json) -> TraceStep:
    return TraceStep(
        actor=_actor(step),
        action=str(step.get("action", "")),
        object=str(step.get("object", "")),
        changes=_changes(step),
        time_s=int(step.get("time", 0)),
        why=_strings(step.get("why", ())),
        code=_tuples(step["code"]),
        holds=_strings(step["holds"]) if "holds" in step else None,
    )


def _actor(step: Json) -> Actor:
    """Who acts; of a file that does not tell the parts, the words as they are."""
    by = step.get("by")
    return Actor(ActorKind(by["kind"]), str(by["object"])) if by else Actor(ActorKind.OTHER, str(step["actor"]))


def _changes(step: Json) -> tuple[Change, ...]:
    """What changes; of a file that does not tell the parts, the words as they are."""
    if "changed" in step:
        return tuple(Change(str(one["object"]), str(one["field"]), str(one["value"])) for one in step["changed"])
    return tuple(Change(words, "", "") for words in _strings(step.get("changes", ())))


def _statistics(numbers: Json) -> Statistics:
    return Statistics(
        **{name: int(numbers.get(name, 0)) for name in NUMBERS},
        elapsed_s=float(numbers.get("elapsed_s", 0.0)),
        engine=str(numbers.get("engine", "")),
        reductions=_strings(numbers.get("reductions", ())),
        stopped_by=_read_stop(numbers),
        acted=tuple((str(name), _strings(did)) for name, did in numbers.get("acted", ())),
        idle=_strings(numbers.get("idle", ())),
        refused=_strings(numbers.get("refused", ())),
        unused=_strings(numbers.get("unused", ())),
    )


def _read_stop(numbers: Json) -> StoppedBy | None:
    """What ended the search; of a file without the reason, its words as they are."""
    said, limit = str(numbers.get("stopped_by", "")), numbers.get("stop_limit")
    if not said:
        return None
    reason = StopReason(numbers.get("stop_reason", StopReason.TOO_MANY_WAYS))
    problem = said if reason == StopReason.TOO_MANY_WAYS else ""
    return StoppedBy(reason, limit if limit is None or isinstance(limit, int) else float(limit), problem)


def _read_omitted(one: Json) -> OmittedGroup:
    """What is not modelled; of a file without its sort, the words as they are."""
    group = Group(Sort(one.get("sort", Sort.OTHER)), str(one.get("name", one["what"])))
    return OmittedGroup(group, int(one["count"]), bool(one["may_decide"]))


def _matrix(document: Json) -> Matrix:
    cells = tuple(_cell(one, (str(one["fault"]),)) for one in document["matrix"])
    return Matrix(
        columns=tuple(
            Column(str(one["key"]), str(one["head"]), str(one["title"])) for one in document["matrix_columns"]
        ),
        rows=tuple(_row(one) for one in document["matrix_rows"]),
        cells=cells,
        pairs=tuple(_cell(one, _strings(one["faults"])) for one in document.get("matrix_pairs", ())),
        pairs_left=int(document.get("matrix_pairs_left", 0)),
        least_grade=Grade(document.get("matrix_grade", Grade.DIPS)),
        elapsed_s=float(document.get("matrix_elapsed_s", 0.0)),
    )


def _row(one: Json) -> Row:
    return Row(
        target=str(one["target"]),
        replicas=int(one["replicas"]),
        floor=int(one["floor"]),
        floor_from=str(one.get("floor_from", "")),
        source=_place(one.get("location", {})),
    )


def _cell(one: Json, faults: tuple[str, ...]) -> Cell:
    lowest, longest_s, finding = (
        None if one[key] is None else int(one[key]) for key in ("lowest", "longest_s", "finding")
    )
    detail = str(one.get("detail", ""))
    return Cell(str(one["target"]), faults, Grade(one["grade"]), detail, lowest, longest_s, finding)


def _sweep(sweep: Json) -> Sweep:
    limit, esc = sweep.get("limit"), sweep.get("esc")
    return Sweep(
        sizes=tuple(_size(line) for line in sweep["sizes"]),
        bound=str(sweep.get("bound", "")),
        limit=None if not limit else Limit(int(limit["nodes"]), int(limit["pods_per_node"])),
        esc=None if not esc else _esc(esc),
        is_thinned=bool(sweep.get("fast_find", False)),
    )


def _esc(esc: Json) -> Esc:
    basis = tuple(Minimum(str(one["case"]), int(one["nodes"]), int(one["pods"])) for one in esc["basis"])
    return Esc(int(esc["nodes"]), int(esc["pods_per_node"]), basis)


def _size(line: Json) -> SizeVerdict:
    return SizeVerdict(
        size=Size(_numbers(line["nodes"]), _numbers(line["pods"])),
        verdict=_one_of(WORST_FIRST, line["verdict"]),
        states=int(line.get("states", 0)),
        transitions=int(line.get("transitions", 0)),
        elapsed_s=float(line.get("elapsed_s", 0.0)),
        note=str(line.get("note", "")),
    )


def _one_of(known: tuple[W, ...], value: Any) -> W:
    """The word; reports print it as it is, because only we write it: a file may come from anybody."""
    if value not in known:
        raise ValueError(f"{printable(str(value))!r} is none of {', '.join(known)}")
    return known[known.index(value)]


def _like(form: re.Pattern[str], value: Any) -> str:
    if not form.fullmatch(str(value)):
        raise ValueError(f"{printable(str(value))!r} is nothing that kubeproof writes there")
    return str(value)


def _numbers(numbers: Json) -> tuple[tuple[str, int], ...]:
    return tuple((str(name), int(number)) for name, number in numbers.items())


def _place(place: Json) -> Source:
    return Source(str(place.get("file", "<built-in>")), int(place.get("line", 0)))


def _strings(items: Any) -> tuple[str, ...]:
    if isinstance(items, str):
        raise TypeError("text instead of a list")
    return tuple(str(item) for item in items)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
