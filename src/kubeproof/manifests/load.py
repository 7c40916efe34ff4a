"""From paths to a setup and a scenario: the way into this room."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from kubeproof.cluster.objects import SchedulerProfile, Settings, Setup, Workload
from kubeproof.cluster.running import NamedPod
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.volumes import Claim
from kubeproof.errors import ManifestError, ScenarioError
from kubeproof.manifests.folders.collected import (
    Collected,
    collect,
    documents_of,
    raise_all,
    raise_first,
)
from kubeproof.manifests.folders.fence import Fence, fence_of
from kubeproof.manifests.folders.files import InputFile, Named, Render, as_tuple, read_inputs
from kubeproof.manifests.folders.hooks import leave_out_hooks
from kubeproof.manifests.folders.recognising import lacks_objects
from kubeproof.manifests.folders.variants import leave_out_variants
from kubeproof.manifests.kinds.foreign_scalers import without_idle
from kubeproof.manifests.kinds.workloads import ReadWorkload
from kubeproof.manifests.late import (
    claims_from_elsewhere,
    render_recipe,
    settle_claims,
    with_idle_autoscalers,
    with_ingresses,
)
from kubeproof.manifests.loaded import RUNNING, Loaded, Omission, Start
from kubeproof.manifests.notes import notes_of
from kubeproof.manifests.objects import (
    Document,
    Objects,
    check_version,
    fields_of,
    is_modelled_kind,
    read_object,
    shaping,
)
from kubeproof.manifests.pods.disks import settle_disks
from kubeproof.manifests.pods.whole import with_doubts
from kubeproof.manifests.scenarios.default_scenario import default_scenario
from kubeproof.manifests.scenarios.events.applied import leave_out_applied, read_applied_object, read_text_beside
from kubeproof.manifests.scenarios.events.fields import Surroundings
from kubeproof.manifests.scenarios.scenario import ReadScenario, read_scenario
from kubeproof.manifests.settings.ignores import ignores_of
from kubeproof.manifests.standing import leave_out_refused, read_objects, read_workloads
from kubeproof.manifests.validation.admission import admit
from kubeproof.manifests.validation.gated import as_written
from kubeproof.manifests.validation.strict import all_unknown_fields
from kubeproof.manifests.wiring import read_wiring
from kubeproof.manifests.yaml import tree
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable

if TYPE_CHECKING:
    from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler
    from kubeproof.manifests.assumed.node_pools import Pool

ASSUMED_FILE, GIVEN_FILE = "assumed-nodes.yaml", "given-nodes.yaml"  # as reports and saved results name them
COMPONENT_NAMES = (b"cluster-autoscaler", b"descheduler", b"kube-controller-manager")


def load(
    paths: Named,
    *,
    stdin: Callable[[], bytes] | None = None,
    bounds: Bounds = Bounds(),
    given: Sequence[tuple[str, bytes]] = (),
    render: Render | None = render_recipe,
    pools: Sequence[Pool] = (),
    allow_outside: bool = False,
    is_tolerant: bool = False,
    is_for_checks: bool = True,
    more: Sequence[InputFile] = (),
) -> Loaded:
    """Everything the path or paths hold, and what is given by name and content, checked and defaulted.

    Links and Scenarios may lead to files inside the paths, and to others only with `allow_outside`.

    `render` makes manifests from charts and kustomizations; by default the user's own helm and kustomize do.
    An input without Node objects gets the nodes of `pools`; without these, such nodes as its pods ask for.

    Raises one ManifestError that lists up to 20 problems; hostile input is refused at its first flaw. With
    `is_tolerant` files and objects that are refused are told in the notes of what is left, as errors; nothing that
    says so is ever raised unless no workload is left. Objects of versions that Kubernetes has removed are then read
    as of those that replaced them. Who neither checks the manifests nor saves what was read needs no `is_for_checks`.
    """
    shown = (InputFile(None, printable(name), content) for name, content in given)
    named = as_tuple(paths)
    inside = fence_of(named, allow_outside=allow_outside)
    is_asked = named or not (given or more)
    found = read_inputs(named, stdin=stdin, bounds=bounds, render=render, fence=inside) if is_asked else ()
    return _load(
        chain(shown, more, found),
        Budget(bounds),
        inside=inside,
        pools=pools,
        is_tolerant=is_tolerant,
        keeps_texts=is_for_checks,
        is_for_checks=is_for_checks,
    )


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
    return _load(files, Budget(bounds), only_given=True, keeps_texts=keeps_texts)


def _load(
    files: Iterable[InputFile],
    budget: Budget,
    *,
    only_given: bool = False,
    keeps_texts: bool = True,
    is_for_checks: bool = True,
    pools: Sequence[Pool] = (),
    inside: Fence = Fence(),
    is_tolerant: bool = False,
) -> Loaded:
    collected = collect(files, budget, is_tolerant=is_tolerant)
    collected.inside = inside
    collected.only_given = only_given
    leave_out_hooks(collected)
    documents = tuple(collected.documents)
    scenario = _the_scenario(collected)
    leave_out_applied(collected, scenario)
    leave_out_variants(collected)
    objects = read_objects(collected)
    scenario, flags = _with_flags(scenario, collected, objects)
    setup = _setup(objects, read_workloads(objects, collected), asks_nothing=scenario is None)
    if is_tolerant:
        setup = leave_out_refused(setup, objects, collected)
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
        loaded = _begin(loaded, objects, is_stated=scenario is not None and _states_start(scenario))
    kept = [document for document in documents if id(document.mapping) not in collected.reads.dropped]
    ignores = tuple(ignore for document in kept for ignore in ignores_of(document))
    texts = collected.texts() if keeps_texts else ()  # now that all that is ever read has been read
    loaded = as_written(replace(loaded, ignores=ignores, texts=texts, assumed=assumed, given=given))
    if is_for_checks:
        loaded = _with_what_checks_read(loaded, [document for document in kept if not _is_scenario(document)])
    loaded = replace(loaded, shaping=shaping(kept, has_components=_has_components(collected)))
    loaded = with_doubts(loaded, objects.limit_ranges)
    loaded = admit(replace(loaded, notes=notes_of(collected), unpatched=collected.unpatched), objects.limit_ranges)
    loaded = replace(loaded, omissions=tuple(settle_disks(loaded.omissions)))
    return with_idle_autoscalers(loaded) if objects.autoscalers else loaded


def _with_what_checks_read(loaded: Loaded, documents: Sequence[Document]) -> Loaded:
    unknown = all_unknown_fields(documents, loaded.omissions)
    return replace(loaded, wiring=read_wiring(documents), unknown=unknown)


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


def _begin(loaded: Loaded, objects: Objects, *, is_stated: bool) -> Loaded:
    """The input with its pods as the start, unless the Scenario states another one."""
    from kubeproof.manifests.scenarios.running import list_made_anew, running_pods

    start = loaded.scenario.start
    if is_stated and start.mode != RUNNING:
        return replace(loaded, omissions=_distinct((*loaded.omissions, *list_made_anew(objects.owned))))
    pods, left_out = running_pods(objects.owned, objects.owners(), {node.name for node in objects.nodes})
    scenario = replace(loaded.scenario, start=Start(RUNNING, pods=pods))
    named = tuple(NamedPod(read.workload.name, root, read.pod.node) for read, root in objects.owned if read.pod)
    return replace(loaded, scenario=scenario, omissions=_distinct((*loaded.omissions, *left_out)), pods=named)


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


def _settle_templates(workload: Workload, objects: Objects) -> Workload:
    """The workload whose claim templates have their default class; what the input leaves open is listed."""
    settled, left_open = settle_claims(workload.claim_templates, objects.volumes, objects.storage_classes)
    objects.omissions += left_open
    return replace(workload, claim_templates=settled)


def _setup(objects: Objects, workloads: tuple[Workload, ...], *, asks_nothing: bool) -> Setup:
    claims: tuple[Claim, ...] = ()
    if asks_nothing and any(workload.template.claims for workload in workloads):
        objects.claims += claims_from_elsewhere(workloads, objects.claims)
    if objects.claims:
        claims, left_open = settle_claims(objects.claims, objects.volumes, objects.storage_classes)
        objects.omissions += left_open
    if any(workload.claim_templates for workload in workloads):
        workloads = tuple(_settle_templates(workload, objects) for workload in workloads)
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
        others=tuple(objects.others),
    )


def _with_scenario(document: Document, setup: Setup, objects: Objects, collected: Collected, budget: Budget) -> Loaded:
    check_version(document)
    fields = fields_of(document, error=ScenarioError)

    def read_applied(event: Fields) -> ReadWorkload | PodDisruptionBudget:
        return read_applied_object(event, document, collected, budget, objects)

    def read_beside(fields: Fields, key: str) -> tuple[str, str]:
        return read_text_beside(fields, key, document, collected, budget)

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
    whole = _add_groups(
        replace(setup, settings=_apply_applications(read.settings, objects, setup)), read.cluster_autoscaler
    )
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
    misspelt = [o for o in objects.omissions if o.close]
    if not misspelt or not problem.is_missing or not isinstance(problem, ScenarioError):
        return problem
    told = "; ".join(f"{o.what} ({o.source}) is {o.why}" for o in misspelt[:3])
    remedy = f"{problem.remedy.rstrip('.')}. In the input {told}"
    return ScenarioError(problem.problem, file=problem.file, line=problem.line, remedy=remedy)


def _add_groups(setup: Setup, autoscaler: ClusterAutoscaler | None) -> Setup:
    if autoscaler is None:
        return setup
    from kubeproof.cluster.nodes.node_groups import with_groups

    return with_groups(setup, autoscaler)


def _apply_applications(settings: Settings, objects: Objects, setup: Setup) -> Settings:
    """The settings with what Argo CD Applications say of them."""
    if not objects.applications:
        return settings
    from kubeproof.manifests.kinds.applications import with_applications

    return with_applications(settings, objects.applications, setup.workloads)


def _with_flags(
    scenario: Document | None, collected: Collected, objects: Objects
) -> tuple[Document | None, tree.Mapping | None]:
    """The Scenario together with the flags of components and Applications of the input, or these alone."""
    if not _has_components(collected) and not any(application.heals for application in objects.applications):
        return scenario, None
    from kubeproof.manifests.components.flags import collect_flags, with_controllers

    told = collect_flags(collected.documents, objects, None if scenario is None else scenario.mapping)
    objects.omissions += told.omissions
    if not told.deschedules:
        objects.policies.clear()
    if scenario is None:
        return None, told.controllers
    return replace(scenario, mapping=with_controllers(scenario.mapping, told.controllers)), None


def _has_components(collected: Collected) -> bool:
    return any(name in content for content in collected.contents.values() for name in COMPONENT_NAMES)


def _set_by_flags(setup: Setup, controllers: tree.Mapping | None, objects: Objects) -> Setup:
    """The setup without a Scenario: what flags and Applications of the input say of controllers counts all the same."""
    if controllers is None:
        return setup
    from kubeproof.manifests.scenarios.scenario import read_controllers

    settings, autoscaler = read_controllers(controllers, setup.nodes)
    return _add_groups(replace(setup, settings=_apply_applications(settings, objects, setup)), autoscaler)


def _distinct(omissions: Sequence[Omission]) -> tuple[Omission, ...]:
    return tuple(dict.fromkeys(omissions))
