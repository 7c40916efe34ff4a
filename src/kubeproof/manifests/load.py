"""From paths to a setup and a scenario: the way into this room."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from kubeproof.cluster.objects import SchedulerProfile, Settings, Setup, Source, Workload
from kubeproof.cluster.policies import PodDisruptionBudget, PriorityClass
from kubeproof.cluster.volumes import Claim
from kubeproof.errors import ManifestError, ScenarioError
from kubeproof.manifests.folders import fence
from kubeproof.manifests.folders.collected import (
    Collected,
    attempt,
    collect,
    documents_of,
    excuse,
    raise_all,
    raise_first,
)
from kubeproof.manifests.folders.fence import Fence, fence_of
from kubeproof.manifests.folders.files import InputFile, Named, Render, listed, read_file, read_inputs
from kubeproof.manifests.folders.own_reports import WHAT, WHY
from kubeproof.manifests.folders.recognising import UNPATCHED, lacks_objects, why_template
from kubeproof.manifests.folders.variants import leave_out_variants
from kubeproof.manifests.identities import find_repeated, name_objects, note_repeated
from kubeproof.manifests.kinds.foreign_scalers import without_idle
from kubeproof.manifests.kinds.priorities import is_unknown_class, omitted_class, with_priority
from kubeproof.manifests.kinds.workloads import ReadWorkload
from kubeproof.manifests.late import (
    claims_from_elsewhere,
    read_budget,
    rendered,
    settled_claims,
    with_idle_autoscalers,
    with_ingresses,
)
from kubeproof.manifests.loaded import RUNNING, Loaded, Omission, Start
from kubeproof.manifests.notes import notes_of
from kubeproof.manifests.objects import (
    WORKLOAD_READERS,
    Document,
    Objects,
    check_bound,
    check_served,
    check_version,
    fields_of,
    is_modelled_kind,
    read_object,
    reference_of,
    standing_workloads,
    unpack,
)
from kubeproof.manifests.scenarios.default_scenario import default_scenario
from kubeproof.manifests.scenarios.event_fields import Surroundings
from kubeproof.manifests.scenarios.scenario import ReadScenario, read_scenario
from kubeproof.manifests.settings.ignores import ignores_of
from kubeproof.manifests.validation.admission import admitted, check_admitted
from kubeproof.manifests.validation.gated import as_written
from kubeproof.manifests.validation.outdated import replace_outdated
from kubeproof.manifests.validation.strict import all_unknown_fields
from kubeproof.manifests.wiring import read_wiring
from kubeproof.manifests.yaml import tree
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable

if TYPE_CHECKING:
    from kubeproof.cluster.node_groups import ClusterAutoscaler
    from kubeproof.manifests.assumed.node_pools import Pool

ASSUMED_FILE, GIVEN_FILE = "assumed-nodes.yaml", "given-nodes.yaml"  # as reports and saved results name them
_NO_NODE = "left out: it runs on a node that is not in the input, and pods of nodes that do not exist are deleted"
COMPONENT_NAMES = (b"cluster-autoscaler", b"descheduler", b"kube-controller-manager")


def load(
    paths: Named,
    *,
    stdin: Callable[[], bytes] | None = None,
    bounds: Bounds = Bounds(),
    given: Sequence[tuple[str, bytes]] = (),
    render: Render | None = rendered,
    pools: Sequence[Pool] = (),
    allow_outside: bool = False,
    is_tolerant: bool = False,
) -> Loaded:
    """Everything the path or paths hold, and what is given by name and content, checked and defaulted.

    Links and Scenarios may lead to files inside the paths, and to others only with `allow_outside`.

    `render` makes manifests from charts and kustomizations; by default the user's own helm and kustomize do.
    An input without Node objects gets the nodes of `pools`; without these, such nodes as its pods ask for.

    Raises one ManifestError that lists up to 20 problems; hostile input is refused at its first flaw. With
    `is_tolerant` files and objects that are refused are told in the notes of what is left, as errors; nothing that
    says so is ever raised unless no workload is left. Objects of versions that Kubernetes has removed are then read
    as of those that replaced them.
    """
    shown = (InputFile(None, printable(name), content) for name, content in given)
    named = listed(paths)
    inside = fence_of(named, allow_outside=allow_outside)
    is_asked = named or not given
    found = read_inputs(named, stdin=stdin, bounds=bounds, render=render, fence=inside) if is_asked else ()
    files = chain(shown, found)
    return _loaded(files, Budget(bounds), inside=inside, pools=pools, is_tolerant=is_tolerant)


def load_files(paths: Sequence[str], *, stdin: Callable[[], bytes] | None = None) -> tuple[tuple[str, str], ...]:
    """The files that the paths name, by name and content, for `load_texts`."""
    found = []
    for file in read_inputs(paths, stdin=stdin, bounds=Bounds()):
        if file.leads_out:  # nothing here lists what was left out
            raise ManifestError("leads out of the input", file=file.shown, line=0, remedy="Name what it leads to")
        if file.problem is not None:
            raise file.problem
        if not (file.is_report or file.note is not None or (file.is_found and lacks_objects(file.content))):
            found.append((os.path.normpath(file.path or file.shown), file.content.decode("utf-8", "replace")))
    return tuple(found)


def holds_scenario(texts: Sequence[tuple[str, str]]) -> bool:
    """True if one of the files holds a Scenario."""
    files = [InputFile(name, printable(name), text.encode()) for name, text in texts]
    collected = collect(files, Budget(Bounds()))
    raise_all(collected.errors)
    return any(_is_scenario(document) for document in collected.documents)


def load_texts(texts: Sequence[tuple[str, str]], *, bounds: Bounds = Bounds(), keeps_texts: bool = True) -> Loaded:
    """The same for files given by name and content, as `Loaded.texts` keeps them; touches no file system.

    Who makes no report of it has no use for what was read of the texts.
    """
    files = [InputFile(name, printable(name), text.encode()) for name, text in texts]
    return _loaded(files, Budget(bounds), only_given=True, keeps_texts=keeps_texts)


def _loaded(
    files: Iterable[InputFile],
    budget: Budget,
    *,
    only_given: bool = False,
    keeps_texts: bool = True,
    pools: Sequence[Pool] = (),
    inside: Fence = Fence(),
    is_tolerant: bool = False,
) -> Loaded:
    collected = collect(files, budget, is_tolerant=is_tolerant)
    collected.inside = inside
    collected.only_given = only_given
    documents = tuple(collected.documents)
    scenario = _the_scenario(collected)
    _leave_out_applied(collected, scenario)
    leave_out_variants(collected)
    objects = _read_objects(collected)
    scenario, flags = _with_flags(scenario, collected, objects)
    setup = _setup(objects, _prioritized(objects, collected), asks_nothing=scenario is None)
    if is_tolerant:
        setup = _without_refused(setup, objects, collected)
    if not setup.workloads or not is_tolerant:
        raise_all(collected.errors)
    added = () if only_given else _add_nodes(setup, pools, scenario, objects, collected, budget)
    assumed, given = ((), added) if pools else (added, ())
    setup = replace(setup, nodes=tuple(objects.nodes))
    if scenario is None:
        setup = _set_by_flags(setup, flags, objects)
        shown = tuple(collected.files)
        omissions = tuple(without_idle(objects.omissions, objects.sized, setup.workloads))
        loaded = Loaded(setup, default_scenario(setup), _distinct(omissions), shown)
    else:
        loaded = _with_scenario(scenario, setup, objects, collected, budget)
    if objects.owned:
        loaded = _begun(loaded, objects, is_stated=scenario is not None and _states_start(scenario))
    kept = [document for document in documents if id(document.mapping) not in collected.reads.dropped]
    ignores = tuple(ignore for document in kept for ignore in ignores_of(document))
    texts = collected.texts() if keeps_texts else ()  # now that all that is ever read has been read
    loaded = as_written(replace(loaded, ignores=ignores, texts=texts, assumed=assumed, given=given))
    loaded = _with_what_checks_read(loaded, [document for document in kept if not _is_scenario(document)])
    loaded = admitted(replace(loaded, notes=notes_of(collected), unpatched=collected.unpatched), objects.limit_ranges)
    return with_idle_autoscalers(loaded) if objects.autoscalers else loaded


def _with_what_checks_read(loaded: Loaded, documents: Sequence[Document]) -> Loaded:
    unknown = all_unknown_fields(documents, loaded.omissions)
    return replace(loaded, wiring=read_wiring(documents), unknown=unknown)


def _read_objects(collected: Collected) -> Objects:
    """The objects of the input, each once; of those that come twice the last, as `kubectl apply` leaves it."""
    objects = Objects()
    objects.omissions += [Omission(WHAT, Source(report, 1), WHY) for report in collected.reports]
    objects.omissions += [Omission("a link", Source(link, 1), fence.WHY) for link in collected.links]
    collected.notes += name_objects(collected.documents)
    if collected.is_tolerant or collected.only_given:
        collected.documents = replace_outdated(collected.documents)
    collected.drop([one for one in collected.documents if not attempt(collected, partial(check_served, one))])
    repeated = find_repeated(collected.documents)
    told = [pair for pair in repeated if not any(collected.is_unrendered(one.file) for one in (pair.first, pair.last))]
    collected.notes += note_repeated(told)
    collected.drop(pair.first for pair in repeated)
    collected.drop([one for one in collected.documents if not _attempt_object(one, objects, collected)])
    return objects


def _attempt_object(document: Document, objects: Objects, collected: Collected) -> bool:
    """Reads one object; True if that worked. Of one that turns out to be a template that is told."""
    before = len(collected.errors)
    if attempt(collected, partial(read_object, document, objects)):
        return True
    reason = why_template(collected.errors[before].problem) if collected.is_tolerant else ""
    if not reason and collected.is_unrendered(document.file):
        reason = UNPATCHED
    if reason:
        excuse(collected, before, document.place, reason)
    return False


def _prioritized(objects: Objects, collected: Collected) -> tuple[Workload, ...]:
    """The workloads a run begins with, each with the priority that admission gives to its pods."""
    classes = tuple(objects.priority_classes)
    nodes = {node.name for node in objects.nodes}
    standing = standing_workloads(objects)
    if not nodes:
        standing = tuple(_placed_anew(one, objects, collected) for one in standing)
    found: list[Workload] = []
    for workload in standing:
        if collected.is_tolerant and workload.bound_to not in (None, *nodes):
            objects.omissions.append(Omission(workload.ref, workload.source, _NO_NODE))
        else:
            attempt(collected, partial(_add_prioritized, workload, classes, nodes, found))
    _drop_lost(collected, standing, found)
    objects.omissions += [omitted_class(one) for one in found if is_unknown_class(one, classes)]
    return tuple(found)


def _placed_anew(workload: Workload, objects: Objects, collected: Collected) -> Workload:
    """A running pod of an input without any Node objects: nobody knows its node, so it finds one again."""
    if workload.bound_to is None:
        return workload
    for document in collected.documents:
        if reference_of(document) == workload.ref:
            document.mapping.entries.pop("status", None)  # a replay, which has assumed nodes, must not see it either
            spec = document.mapping.get("spec")
            if isinstance(spec, tree.Mapping):
                spec.entries.pop("nodeName", None)
    why = "its node is not in the input: it begins without one, and finds one again"
    objects.omissions.append(Omission(f"place of {workload.ref}", workload.source, why))
    return replace(workload, bound_to=None, template=replace(workload.template, node_name=None))


def _add_prioritized(
    workload: Workload, classes: Sequence[PriorityClass], nodes: set[str], found: list[Workload]
) -> None:
    check_bound(workload, nodes)
    found.append(with_priority(workload, classes))


def _without_refused(setup: Setup, objects: Objects, collected: Collected) -> Setup:
    """The setup without Pods that LimitRanges and quotas do not let in."""
    check = partial(check_admitted, setup=setup, ranges=objects.limit_ranges)
    let_in = tuple(one for one in setup.workloads if attempt(collected, partial(check, one)))
    _drop_lost(collected, setup.workloads, let_in)
    return replace(setup, workloads=let_in)


def _drop_lost(collected: Collected, before: Sequence[Workload], after: Sequence[Workload]) -> None:
    """Takes workloads that are refused out of what a replay reads."""
    lost = {one.ref for one in before} - {one.ref for one in after}
    if lost:
        collected.drop([one for one in collected.documents if reference_of(one) in lost])


def _add_nodes(
    setup: Setup,
    pools: Sequence[Pool],
    scenario: Document | None,
    objects: Objects,
    collected: Collected,
    budget: Budget,
) -> tuple[Pool, ...]:
    """Gives an input without nodes those of the pools, or assumed ones; returns what it adds."""
    if setup.nodes or not (pools or (setup.workloads and not _names_nodes(scenario))):
        return ()
    from kubeproof.manifests.assumed.node_pools import write_nodes
    from kubeproof.manifests.assumed.nodes import assume_pools

    chosen = tuple(pools) or assume_pools(setup)
    file = InputFile(None, GIVEN_FILE if pools else ASSUMED_FILE, write_nodes(chosen).encode())
    collected.contents[file.shown] = file.content  # a replay needs them
    for document in documents_of(file, collected, budget):
        read_object(document, objects)
    return chosen


def _names_nodes(scenario: Document | None) -> bool:
    """True if the Scenario has groups of nodes of its own, so that the cluster may begin without any."""
    spec = None if scenario is None else scenario.mapping.get("spec")
    controllers = spec.get("controllers") if isinstance(spec, tree.Mapping) else None
    return isinstance(controllers, tree.Mapping) and controllers.get("clusterAutoscaler") is not None


def _states_start(scenario: Document) -> bool:
    spec = scenario.mapping.get("spec")
    return isinstance(spec, tree.Mapping) and spec.get("start") is not None


def _begun(loaded: Loaded, objects: Objects, *, is_stated: bool) -> Loaded:
    """The input with its pods as the start, unless the Scenario states another one."""
    from kubeproof.manifests.scenarios.running import made_anew, running_pods

    start = loaded.scenario.start
    if is_stated and start.mode != RUNNING:
        return replace(loaded, omissions=_distinct((*loaded.omissions, *made_anew(objects.owned))))
    pods, left_out = running_pods(objects.owned, objects.owners(), {node.name for node in objects.nodes})
    scenario = replace(loaded.scenario, start=Start(RUNNING, pods=pods))
    return replace(loaded, scenario=scenario, omissions=_distinct((*loaded.omissions, *left_out)))


def _is_scenario(document: Document) -> bool:
    return document.kind == "Scenario" and is_modelled_kind(document)


def _the_scenario(collected: Collected) -> Document | None:
    """The one Scenario of the input, taken out of the documents."""
    scenarios = [document for document in collected.documents if _is_scenario(document)]
    collected.documents = [d for d in collected.documents if all(d is not s for s in scenarios)]
    if len(scenarios) > 1:
        second, first = scenarios[1], scenarios[0]
        raise ScenarioError(
            f"a second Scenario, the first is at {first.file}:{first.line}",
            file=second.file,
            line=second.line,
            remedy="Verify one Scenario at a time",
        )
    return scenarios[0] if scenarios else None


def _leave_out_applied(collected: Collected, scenario: Document | None) -> None:
    """Drops documents of files that an `apply` event names: they come with the event, not before it."""
    if scenario is None:
        return
    applied = {os.path.realpath(path) for path in _applied_paths(scenario, collected)}
    shown = {s for s, path in collected.paths.items() if path is not None and os.path.realpath(path) in applied}
    collected.documents = [d for d in collected.documents if d.file not in shown]


def _applied_paths(scenario: Document, collected: Collected) -> list[str]:
    """The files that apply events name; a malformed event is left for the reader to refuse."""
    spec = scenario.mapping.get("spec")
    events = spec.get("events") if isinstance(spec, tree.Mapping) else None
    workload = spec.get("workload") if isinstance(spec, tree.Mapping) else None
    faults = workload.get("faults") if isinstance(workload, tree.Mapping) else None
    found = []
    for entry in (*_items(events), *_items(faults)):
        event = entry.get("apply") if isinstance(entry, tree.Mapping) else None
        file = event.get("file") if isinstance(event, tree.Mapping) else None
        if isinstance(file, tree.Scalar) and "\0" not in file.text:
            found.append(_beside(scenario, collected, file.text))
    return found


def _items(value: tree.Value | None) -> tuple[tree.Value, ...]:
    return value.items if isinstance(value, tree.Sequence) else ()


def _beside(scenario: Document, collected: Collected, name: str) -> str:
    """A path relative to the Scenario's file, or to the working directory for standard input."""
    path = collected.paths.get(scenario.file)
    return os.path.join(os.path.dirname(path), name) if path is not None else name


def _settled_templates(workload: Workload, objects: Objects) -> Workload:
    """The workload whose claim templates have their default class; what the input leaves open is listed."""
    settled, left_open = settled_claims(workload.claim_templates, objects.volumes, objects.storage_classes)
    objects.omissions += left_open
    return replace(workload, claim_templates=settled)


def _setup(objects: Objects, workloads: tuple[Workload, ...], *, asks_nothing: bool) -> Setup:
    claims: tuple[Claim, ...] = ()
    if asks_nothing and any(workload.template.claims for workload in workloads):
        objects.claims += claims_from_elsewhere(workloads, objects.claims)
    if objects.claims:
        claims, left_open = settled_claims(objects.claims, objects.volumes, objects.storage_classes)
        objects.omissions += left_open
    if any(workload.claim_templates for workload in workloads):
        workloads = tuple(_settled_templates(workload, objects) for workload in workloads)
    return Setup(
        nodes=tuple(objects.nodes),
        workloads=workloads,
        profiles=tuple(objects.profiles) or (SchedulerProfile(),),
        settings=Settings(),
        autoscalers=tuple(objects.autoscalers),
        verticals=tuple(objects.verticals),
        descheduler=objects.policies[0] if objects.policies else None,
        budgets=tuple(objects.budgets),
        services=with_ingresses(objects.services, objects.reached) if objects.reached else tuple(objects.services),
        priority_classes=tuple(objects.priority_classes),
        namespaces=tuple(objects.namespaces),
        quotas=tuple(objects.quotas),
        volumes=tuple(objects.volumes),
        claims=claims,
        storage_classes=tuple(objects.storage_classes),
    )


def _with_scenario(document: Document, setup: Setup, objects: Objects, collected: Collected, budget: Budget) -> Loaded:
    check_version(document)
    fields = fields_of(document, error=ScenarioError)

    def read_applied(event: Fields) -> ReadWorkload | PodDisruptionBudget:
        return _applied(event, document, collected, budget, objects)

    def read_beside(fields: Fields, key: str) -> tuple[str, str]:
        return _text_beside(fields, key, document, collected, budget)

    around = Surroundings(
        setup.nodes,
        setup.workloads,
        read_applied,
        setup.autoscalers,
        setup.services,
        setup.budgets,
        read_beside,
        is_descheduled=setup.descheduler is not None,
    )
    read = _read_scenario(fields, around, objects, collected)
    collected.notes += dict.fromkeys(fields.log.notes)
    omissions = _distinct((*objects.omissions, *fields.log.omissions))
    whole = _grouped(replace(setup, settings=_applied_to(read.settings, objects, setup)), read.cluster_autoscaler)
    return Loaded(whole, read.scenario, omissions, tuple(collected.files))


def _read_scenario(fields: Fields, around: Surroundings, objects: Objects, collected: Collected) -> ReadScenario:
    """What the Scenario says; all that is wrong with it is told at once, with what of the input is refused."""
    try:
        return read_scenario(fields, around)
    except ManifestError as problem:
        found = [_with_misspelt(one, objects) for one in problem.together or (problem,)]
    raise_first([*found, *collected.errors])


def _with_misspelt(problem: ManifestError, objects: Objects) -> ManifestError:
    """The error; where it is about something that is missing, misspelt kinds of the input are told, too."""
    misspelt = [o for o in objects.omissions if "; did you mean " in o.why]
    if not misspelt or "of the input" not in problem.problem or not isinstance(problem, ScenarioError):
        return problem
    told = "; ".join(f"{o.what} ({o.source}) is {o.why}" for o in misspelt[:3])
    remedy = f"{problem.remedy.rstrip('.')}. In the input {told}"
    return ScenarioError(problem.problem, file=problem.file, line=problem.line, remedy=remedy)


def _grouped(setup: Setup, autoscaler: ClusterAutoscaler | None) -> Setup:
    if autoscaler is None:
        return setup
    from kubeproof.cluster.node_groups import with_groups

    return with_groups(setup, autoscaler)


def _applied_to(settings: Settings, objects: Objects, setup: Setup) -> Settings:
    """The settings with what Argo CD Applications say of them."""
    if not objects.applications:
        return settings
    from kubeproof.manifests.kinds.applications import with_applications

    return with_applications(settings, objects.applications, setup.workloads)


def _with_flags(
    scenario: Document | None, collected: Collected, objects: Objects
) -> tuple[Document | None, tree.Mapping | None]:
    """The Scenario together with the flags of components and Applications of the input, or these alone."""
    has_components = any(name in content for content in collected.contents.values() for name in COMPONENT_NAMES)
    if not has_components and not any(application.heals for application in objects.applications):
        return scenario, None
    from kubeproof.manifests.components.flags import told_by_components, with_controllers

    told = told_by_components(collected.documents, objects, None if scenario is None else scenario.mapping)
    objects.omissions += told.omissions
    if not told.deschedules:
        objects.policies.clear()
    if scenario is None:
        return None, told.controllers
    return replace(scenario, mapping=with_controllers(scenario.mapping, told.controllers)), None


def _set_by_flags(setup: Setup, controllers: tree.Mapping | None, objects: Objects) -> Setup:
    """The setup without a Scenario: what flags and Applications of the input say of controllers counts all the same."""
    if controllers is None:
        return setup
    from kubeproof.manifests.scenarios.scenario import read_controllers

    settings, autoscaler = read_controllers(controllers, setup.nodes)
    return _grouped(replace(setup, settings=_applied_to(settings, objects, setup)), autoscaler)


def _applied(
    event: Fields, scenario: Document, collected: Collected, budget: Budget, objects: Objects
) -> ReadWorkload | PodDisruptionBudget:
    """The workload or budget that an apply event names by file or holds inline."""
    if event.has("file") == event.has("manifest"):
        event.log.fail(
            f"{event.path} needs either file or manifest", line=event.mapping.line, remedy="Give exactly one"
        )
    if event.has("manifest"):
        found = list(unpack(event.required_child("manifest").mapping, scenario.file, collected.reads))
    else:
        path = _named_inside(event, "file", scenario, collected)
        content = _applied_content(collected, path, budget)
        found = documents_of(InputFile(path, printable(path), content), collected, budget)
    key = "file" if event.has("file") else "manifest"
    known = (*WORKLOAD_READERS, "PodDisruptionBudget")
    if len(found) != 1 or found[0].kind not in known or not is_modelled_kind(found[0]):
        remedy = f"Apply one of {', '.join(known)} at a time"
        event.fail(key, "does not hold exactly one workload or budget", remedy=remedy)
    check_version(found[0])
    fields = fields_of(found[0])
    if found[0].kind not in WORKLOAD_READERS:
        declared = read_budget(fields)
        objects.omissions += fields.log.omissions
        return declared
    read = WORKLOAD_READERS[found[0].kind](fields)
    objects.omissions += fields.log.omissions
    return replace(read, workload=with_priority(read.workload, tuple(objects.priority_classes)))


def _text_beside(fields: Fields, key: str, scenario: Document, collected: Collected, budget: Budget) -> tuple[str, str]:
    """A file that the Scenario names, which holds something else than manifests, and its text."""
    path = _named_inside(fields, key, scenario, collected)
    if "\0" in path:
        fields.fail(key, "is no name of a file", remedy="Write a path relative to the Scenario's file")
    if collected.only_given:
        return printable(path), ""  # of a saved result: only `simulate` looks into it, and that starts from files
    try:
        return printable(path), read_file(path, budget.bounds, collected.inside).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ManifestError("not UTF-8", file=printable(path), line=1, remedy="Save it as UTF-8") from None


def _named_inside(fields: Fields, key: str, scenario: Document, collected: Collected) -> str:
    """The path of a file that the Scenario names, which must lie where the user allows it."""
    named = fields.required_text(key)
    path = _beside(scenario, collected, named)
    if not collected.only_given and "\0" not in path and not collected.inside.admits(path):
        raise ManifestError(
            f"{fields.log.owner}: {fields.path_of(key)} is {printable(named)!r}, which leads out of the input",
            file=fields.log.file,
            line=fields.line_of(key),
            remedy=fence.REMEDY,
        )
    return path


def _applied_content(collected: Collected, path: str, budget: Budget) -> bytes:
    known = collected.contents.get(os.path.normpath(path))
    if known is None:
        if collected.only_given:
            raise ManifestError(
                "not among the saved files", file=printable(path), line=1, remedy="Save the result again"
            )
        known = collected.contents[os.path.normpath(path)] = read_file(path, budget.bounds, collected.inside)
    return known


def _distinct(omissions: Sequence[Omission]) -> tuple[Omission, ...]:
    return tuple(dict.fromkeys(omissions))
