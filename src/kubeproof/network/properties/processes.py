"""Properties of processes, such as updates and tenants: words of their events over the whole sequence of snapshots."""

from __future__ import annotations

from collections.abc import Callable

from kubeproof.logic.automata.automaton import Buchi, from_letters
from kubeproof.logic.automata.operations import closure
from kubeproof.logic.lasso import Lasso
from kubeproof.network.model import Event, Network
from kubeproof.network.result import Liveness, PropertyResult, Step
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

EVENTS = ("request", "begin", "commit", "grant", "release")
IDLE = "idle"


@dataclass(frozen=True, slots=True)
class ProcessProperty:
    """A property of the word that each process sees."""

    name: str
    automaton: Buchi
    letters: Callable[[Network, str], list[tuple[str, int, Event]]]  # letter, snapshot, event


def isolated_updates() -> ProcessProperty:
    """An update that has begun is over before another one begins, and every requested one is carried out."""
    automaton = from_letters(
        ("req", "begin", "commit", "begin_other", IDLE),
        ["q0"],
        [
            ("q0", "idle", "q0"),
            ("q0", "req", "q1"),
            ("q1", "req", "q1"),
            ("q1", "idle", "q1"),
            ("q1", "begin", "q2"),
            ("q2", "idle", "q2"),
            ("q2", "req", "q2"),
            ("q2", "commit", "q0"),
        ],
        ["q0"],
    )
    return ProcessProperty("isolated updates", automaton, _update_letters)


def resource_allocation() -> ProcessProperty:
    """No resource is granted while another process has it, and every request is granted."""
    automaton = from_letters(
        ("req", "grant", "release", "grant_overlap", IDLE),
        ["q0"],
        [
            ("q0", "idle", "q0"),
            ("q0", "req", "q1"),
            ("q1", "idle", "q1"),
            ("q1", "req", "q1"),
            ("q1", "grant", "q2"),
            ("q2", "idle", "q2"),
            ("q2", "req", "q2"),
            ("q2", "release", "q0"),
        ],
        ["q0", "q2"],
    )
    return ProcessProperty("resource allocation", automaton, _resource_letters)


def _events(network: Network) -> list[tuple[int, Event]]:
    return [(number, event) for number, one in enumerate(network.snapshots) for event in one.events]


def _update_letters(network: Network, process: str) -> list[tuple[str, int, Event]]:
    """What one update sees: its own events, and others that begin while it runs."""
    own = {"request": "req", "begin": "begin", "commit": "commit"}
    found, runs = [], False
    for number, event in _events(network):
        if event.process == process and event.kind in own:
            found.append((own[event.kind], number, event))
            runs = event.kind == "begin" or (runs and event.kind != "commit")
        elif event.kind == "begin" and runs:
            found.append(("begin_other", number, event))
    return found


def _resource_letters(network: Network, process: str) -> list[tuple[str, int, Event]]:
    """What one process sees: its own events; a grant of what another one has is an overlap."""
    own = {"request": "req", "grant": "grant", "release": "release"}
    found, holders = [], dict[str, str]()
    for number, event in _events(network):
        letter = own.get(event.kind)
        if letter is None:
            continue
        if event.kind == "grant" and holders.get(event.resource, event.process) != event.process:
            letter = "grant_overlap"
        if event.kind == "grant":
            holders[event.resource] = event.process
        elif event.kind == "release" and holders.get(event.resource) == event.process:
            del holders[event.resource]
        if event.process == process:
            found.append((letter, number, event))
    return found


def check_processes(network: Network, one: ProcessProperty, *, final: bool = False) -> PropertyResult:
    """The answer for all processes; after the last snapshot nothing more is known to happen."""
    processes = sorted({event.process for _, event in _events(network)})
    unsafe, unmet = [], []
    for process in processes:
        read = one.letters(network, process)
        word = tuple(one.automaton.alphabet.letter(letter) for letter, _, _ in read)
        lasso = Lasso(word, (one.automaton.alphabet.letter(IDLE),))
        if not closure(one.automaton).accepts(lasso):
            unsafe.append((process, read[: _length(one.automaton, word)]))
        elif not one.automaton.accepts(lasso):
            unmet.append((process, read))
    liveness = Liveness.NOT_VERIFIED if unmet else Liveness.UNDETERMINED if unsafe else Liveness.VERIFIED
    verdict = (
        Verdict.VIOLATED
        if unsafe or (unmet and final)
        else Verdict.UNKNOWN
        if unmet
        else Verdict.HOLDS
        if final
        else Verdict.HOLDS_BOUNDED
    )
    return PropertyResult(
        name=one.name,
        verdict=verdict if processes else Verdict.VACUOUS,
        is_safe=not unsafe,
        liveness=liveness,
        pairs=len(processes),
        states=0,
        snapshots=(),
        steps=tuple(
            Step(process, part, letter, number, network.snapshots[number].name, event)
            for part, found in (("safety", unsafe), ("liveness", unmet))
            for process, read in found[:1]
            for letter, number, event in read
        ),
    )


def _length(automaton: Buchi, word: tuple[int, ...]) -> int:
    """How many letters it takes until no continuation is in the closure."""
    closed = closure(automaton)
    states = frozenset(closed.initial)
    for place, letter in enumerate(word):
        states = closed.step(states, letter)
        if not states:
            return place + 1
    return len(word)
