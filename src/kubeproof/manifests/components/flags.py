"""Flags of components that run as workloads of the input: cluster autoscaler, descheduler, controller manager.

What a Scenario says under `controllers` lives in flags. Where the input has the component itself, its flags are read
from the container's `command` and `args` and count as if they stood in the Scenario, which overrides them. A component
is known by the name of its image or program. Flags that are not modelled, and values that cannot be read, are listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kubeproof.cluster.nodes.node_groups import is_member
from kubeproof.cluster.objects import HOSTNAME, Node, Source
from kubeproof.manifests.components.known import (
    AUTOSCALER,
    COMPONENTS,
    DESCHEDULER,
    DRY_RUN,
    MANAGER,
    NODES,
    Component,
    as_boolean,
    as_integer,
)
from kubeproof.manifests.kinds.applications import SELF_HEAL_S
from kubeproof.manifests.kinds.cron import gaps_of
from kubeproof.manifests.loaded import Omission
from kubeproof.manifests.objects import Document, Objects, show_name
from kubeproof.manifests.validation.names import is_dns_label
from kubeproof.manifests.yaml import tree
from kubeproof.manifests.yaml.printable import printable
from kubeproof.values import dataclass

GROUPS = "groups"
SECTION = "clusterAutoscaler"
_ARCHITECTURE = re.compile("-(?:amd64|arm64|s390x|ppc64le)$", re.ASCII)
_GROUP = re.compile(r"([0-9]{1,4}):([0-9]{1,4}):(\S{1,300})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag of one container."""

    component: str
    name: str
    value: str
    owner: str  # "Deployment/kube-system/cluster-autoscaler", for messages
    source: Source


@dataclass(frozen=True, slots=True)
class Flags:
    """What flags say, in the form of a Scenario's `controllers`, and what of them is left out."""

    controllers: tree.Mapping
    omissions: tuple[Omission, ...] = ()
    deschedules: bool = True  # False: the descheduler runs dry
    file_of_autoscaler: str = ""


def collect_flags(documents: Iterable[Document], objects: Objects, scenario: tree.Mapping | None) -> Flags:
    """What components and Applications of the input say, as far as it can have an effect."""
    documents = list(documents)
    flags = read_flags(documents, objects.nodes)
    flags = replace(flags, omissions=(*flags.omissions, *_without_words(documents)))
    if has_no_groups(flags, scenario):
        flags = without_autoscaler(flags)
    if not any(application.heals for application in objects.applications):
        return flags
    healing = _mapping({"interval": tree.Scalar(f"{SELF_HEAL_S}s", True, 1, 1)})
    entries = {**flags.controllers.entries, "gitops": tree.Entry(healing, 1, 1)}
    return replace(flags, controllers=_replace(flags.controllers, entries))


def read_flags(documents: Iterable[Document], nodes: Sequence[Node]) -> Flags:
    """The flags of all components among the documents."""
    found = [flag for document in documents for flag in _flags_of(document)]
    sections: dict[str, dict[str, tree.Value]] = {}
    omissions: list[Omission] = []
    for flag in found:
        component = COMPONENTS[flag.component]
        section, key, read = component.flags.get(flag.name, ("", "", as_integer))
        value = read(flag.value) if section else None
        if value is not None:
            sections.setdefault(section, {})[key] = _scalar(value, flag)
        elif section or _is_listed(component, flag.name):
            why = "its value is not understood" if section else "not modelled"
            omissions.append(Omission(_describe_flag(flag) if section else _describe_name(flag), flag.source, why))
    groups = _groups([flag for flag in found if flag.name == NODES], nodes, omissions)
    if groups:
        sections.setdefault(SECTION, {})[GROUPS] = tree.Sequence(groups, groups[0].line, 1)
    dry = any(f.component == DESCHEDULER and f.name == DRY_RUN and as_boolean(f.value) == "true" for f in found)
    file = next((flag.source.file for flag in found if flag.component == AUTOSCALER), "")
    controllers = _mapping({key: _mapping(entries) for key, entries in sections.items()})
    return Flags(controllers, tuple(omissions), not dry, file)


def _describe_flag(flag: Flag) -> str:
    return f"flag --{printable(flag.name)}={printable(flag.value)} of {flag.owner}"


def _describe_name(flag: Flag) -> str:
    """A flag that nobody reads: its value is nobody's business."""
    return f"flag --{printable(flag.name)} of {flag.owner}"


def _is_listed(component: Component, name: str) -> bool:
    if name in (NODES, DRY_RUN):
        return False
    if component.listed is not None:
        return name in component.listed
    return not name.startswith(component.ignored)


def _scalar(text: str, flag: Flag) -> tree.Scalar:
    return tree.Scalar(text, True, flag.source.line, 1)


def _mapping(entries: Mapping[str, tree.Value]) -> tree.Mapping:
    line = min((value.line for value in entries.values()), default=1)
    return tree.Mapping({key: tree.Entry(value, value.line, 1) for key, value in entries.items()}, line, 1)


# -- node groups ------------------------------------------------------------------------------------


def _groups(flags: Sequence[Flag], nodes: Sequence[Node], omissions: list[Omission]) -> tuple[tree.Mapping, ...]:
    """The groups of `--nodes=MIN:MAX:NAME`; a node belongs to the one whose name a label of it has as its value."""
    found: list[tree.Mapping] = []
    samples: list[Node] = []
    for flag in flags:
        match = _GROUP.fullmatch(flag.value)
        name = match[3].rstrip("/").rpartition("/")[2] if match else ""
        like = _member(name, nodes)
        problem = _problem(match, name, like, nodes, samples)
        if problem or match is None or like is None:
            omissions.append(Omission(_describe_flag(flag), flag.source, problem))
            continue
        samples.append(like)
        texts = {"name": name, "like": like.name, "min": match[1], "max": match[2]}
        plain = ("min", "max")
        found.append(
            _mapping({key: tree.Scalar(text, key in plain, flag.source.line, 1) for key, text in texts.items()})
        )
    return tuple(found)


def _member(name: str, nodes: Sequence[Node]) -> Node | None:
    return next((n for n in nodes if any(value == name for key, value in n.labels if key != HOSTNAME)), None)


def _problem(
    match: re.Match[str] | None, name: str, like: Node | None, nodes: Sequence[Node], samples: Sequence[Node]
) -> str:
    """Why a group cannot be taken over; "" if it can."""
    if match is None or not is_dns_label(name) or int(match[1]) > int(match[2]) or int(match[2]) < 1:
        return "its value is not understood; write controllers.clusterAutoscaler.groups"
    if like is None:
        return "no Node of the input has a label with its name as the value; write controllers.clusterAutoscaler.groups"
    if any(is_member(like, sample) for sample in samples):
        return "its nodes equal those of another group"
    if sum(is_member(node, like) for node in nodes) > int(match[2]):
        return "the input has more such nodes than its maximum"
    return ""


# -- components that tell nothing -------------------------------------------------------------------

_UNTOLD = {
    AUTOSCALER: "without controllers.clusterAutoscaler.groups it does nothing here",
    DESCHEDULER: "without a DeschedulerPolicy it evicts nothing here",
    MANAGER: "those of controllers in the Scenario count, or the defaults",
}


def _without_words(documents: Iterable[Document]) -> Iterator[Omission]:
    """Components whose command line is not in the input, as in a snapshot, which never holds any; each once."""
    told: set[str] = set()
    for document in documents:
        for container in _containers(document.mapping):
            component = _component(container, ())
            if component is None or component in told or container.get("command") or container.get("args"):
                continue
            told.add(component)
            what = f"flags of {component} in {show_name(document)}"
            why = f"they are not in the input; {_UNTOLD[component]}"
            yield Omission(what, Source(document.file, container.line), why)


# -- containers -------------------------------------------------------------------------------------


def _flags_of(document: Document) -> Iterator[Flag]:
    """The flags of the components that a workload runs."""
    owner, file, root = show_name(document), document.file, document.mapping
    for container in _containers(root):
        words = [word for key in ("command", "args") for word in _words(container.get(key))]
        component = _component(container, words)
        if component is None:
            continue
        _note(document, container, component, words)
        schedule = _at(root, "spec", "schedule")
        if component == DESCHEDULER and isinstance(schedule, tree.Scalar):
            gaps = gaps_of(schedule.text)
            if gaps:
                yield Flag(component, "descheduling-interval", f"{gaps[0]}s", owner, Source(file, schedule.line))
        yield from _parse(component, words, owner, file)


def _containers(root: tree.Mapping) -> Iterator[tree.Mapping]:
    """The containers of a workload, whatever its kind."""
    paths = (("spec",), ("spec", "template", "spec"), ("spec", "jobTemplate", "spec", "template", "spec"))
    for path in paths:
        listed = _at(root, *path, "containers")
        for item in listed.items if isinstance(listed, tree.Sequence) else ():
            if isinstance(item, tree.Mapping):
                yield item


def _at(value: tree.Value | None, *path: str) -> tree.Value | None:
    for key in path:
        value = value.get(key) if isinstance(value, tree.Mapping) else None
    return value


def _words(value: tree.Value | None) -> list[tree.Scalar]:
    items = value.items if isinstance(value, tree.Sequence) else ()
    return [item for item in items if isinstance(item, tree.Scalar)]


def _component(container: tree.Mapping, words: Sequence[tree.Scalar]) -> str | None:
    """The component that a container runs, by its program or its image; None if it is none of them."""
    image = container.get("image")
    names = [words[0].text.rpartition("/")[2]] if words else []
    if isinstance(image, tree.Scalar):
        names.append(_ARCHITECTURE.sub("", re.split("[:@]", image.text.rpartition("/")[2])[0]))
    return next((name for name in names if name in COMPONENTS), None)


def _parse(component: str, words: Sequence[tree.Scalar], owner: str, file: str) -> Iterator[Flag]:
    """`--name=value`, `--name value` and `--name`, which is true."""
    following = [*words[1:], None]
    for word, after in zip(words, following, strict=False):
        if not word.text.startswith("-"):
            continue
        name, has_value, value = word.text.lstrip("-").partition("=")
        if not has_value:
            is_apart = after is not None and not after.text.startswith("-")
            value = after.text if after is not None and is_apart else "true"
        yield Flag(component, name, value, owner, Source(file, word.line))


def _note(document: Document, container: tree.Mapping, component: str, words: Sequence[tree.Scalar]) -> None:
    """Keeps of a command line what names the component and its modelled flags; others may hold passwords."""
    kept = {id(word): said for word, said in _keep_words(COMPONENTS[component], component, words)}
    for key in ("command", "args"):
        value = container.get(key)
        if isinstance(value, tree.Sequence):
            said = tuple(kept[id(word)] for word in _words(value) if id(word) in kept)
            document.reads.marks(container)[key] = True
            document.reads.keep(value, tree.Sequence(said, value.line, value.column))


def _keep_words(
    component: Component, name: str, words: Sequence[tree.Scalar]
) -> Iterator[tuple[tree.Scalar, tree.Scalar]]:
    """Words with what is kept of them: a flag that is only listed keeps its name."""
    if words and words[0].text.rpartition("/")[2] == name:
        yield words[0], replace(words[0], text=name)
    following = [*words[1:], None]
    for word, after in zip(words, following, strict=False):
        flag, equals, _ = word.text.lstrip("-").partition("=")
        if not word.text.startswith("-"):
            continue
        if flag in (*component.flags, NODES, DRY_RUN):
            yield word, word
            if after is not None and not equals and not after.text.startswith("-"):
                yield after, after
        elif _is_listed(component, flag):
            yield word, replace(word, text=f"--{flag}")


# -- the Scenario overrides -------------------------------------------------------------------------


def has_no_groups(flags: Flags, scenario: tree.Mapping | None) -> bool:
    """True if flags speak of a cluster autoscaler, and nobody of its node groups."""
    told = (_at(flags.controllers, SECTION), _at(scenario, "spec", "controllers", SECTION))
    return told[0] is not None and not any(isinstance(one, tree.Mapping) and one.get(GROUPS) for one in told)


def without_autoscaler(flags: Flags) -> Flags:
    """The flags but for those of a cluster autoscaler, which can do nothing without groups."""
    section = flags.controllers.get(SECTION)
    left = {key: entry for key, entry in flags.controllers.entries.items() if key != SECTION}
    why = "no node group is known, so that it does nothing; list them under controllers.clusterAutoscaler.groups"
    source = Source(flags.file_of_autoscaler, section.line if section is not None else 1)
    omission = Omission("cluster autoscaler of the input", source, why)
    return replace(flags, controllers=_replace(flags.controllers, left), omissions=(*flags.omissions, omission))


def with_controllers(scenario: tree.Mapping, told: tree.Mapping) -> tree.Mapping:
    """The Scenario whose `controllers` say what is told here wherever it says nothing itself."""
    spec = _at(scenario, "spec")
    own = spec if isinstance(spec, tree.Mapping) else tree.Mapping({}, scenario.line, scenario.column)
    given = own.get("controllers")
    if given is not None and not isinstance(given, tree.Mapping):
        return scenario  # malformed: left for the reader to refuse
    controllers = tree.Mapping({}, own.line, own.column) if given is None else given
    merged = dict(controllers.entries)
    for section, entry in told.entries.items():
        before = controllers.get(section)
        if before is None:
            merged[section] = entry
        elif isinstance(before, tree.Mapping) and isinstance(entry.value, tree.Mapping):
            both = {**entry.value.entries, **before.entries}
            merged[section] = tree.Entry(tree.Mapping(both, before.line, before.column), before.line, before.column)
    return _with(scenario, "spec", _with(own, "controllers", _replace(controllers, merged)))


def _replace(mapping: tree.Mapping, entries: dict[str, tree.Entry]) -> tree.Mapping:
    return tree.Mapping(entries, mapping.line, mapping.column)


def _with(mapping: tree.Mapping, key: str, value: tree.Mapping) -> tree.Mapping:
    return _replace(mapping, {**mapping.entries, key: tree.Entry(value, value.line, value.column)})
