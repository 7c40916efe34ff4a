"""The search: explores a system, decides every check, and says how far it came."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, cast

from kubeproof.engine.components import cyclic_components
from kubeproof.engine.cycles import Lasso, all_lassos, find_lasso
from kubeproof.engine.kernel import Interner, Kernel, Weigh, Weighed
from kubeproof.engine.limits import STATES_BETWEEN_JUDGEMENTS, STATES_BETWEEN_LOOKS, Limits
from kubeproof.engine.room import Room, name_end
from kubeproof.engine.snapshot import Keeper, Restorable
from kubeproof.engine.stopped import (
    ALL_VIOLATED,
    INTERRUPTED,
    NoDisk,
    StoppedBy,
    StopReason,
    is_cut_short,
)
from kubeproof.engine.system import Cell, Check, Effect, Kind, Progress, Step, System
from kubeproof.errors import LimitReached
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.engine.words import Broken, Follower, Way

    Followers = dict[int, Follower]  # of the checks that are words, by their place

SAFETY = (Kind.NEVER, Kind.STABLE)
Found = Callable[[int, "Search"], None]  # the number of a check, and the search that has come to a violation of it


class Store(Restorable, Protocol):
    """What both kernels offer."""

    calls: int
    misses: int
    transitions: int
    expanded: int

    @property
    def name(self) -> str: ...

    @property
    def depth(self) -> int: ...

    @property
    def first_any(self) -> Sequence[int]: ...

    @property
    def first_stable(self) -> Sequence[int]: ...

    def __len__(self) -> int: ...

    def add_initial(self, cells: tuple[Cell, ...]) -> int: ...

    def run(self, expansions: int, max_states: int) -> bool: ...

    def parent(self, state: int) -> int: ...

    def is_stable(self, state: int) -> bool: ...

    def flags(self, state: int) -> int: ...

    def cells_of(self, state: int) -> tuple[Cell, ...]: ...

    def successors(self, state: int) -> Sequence[int]: ...

    def steps(self, state: int) -> Sequence[Step]: ...

    def urgent(self, state: int) -> Sequence[int]: ...

    @property
    def cells(self) -> Interner: ...

    @property
    def effect_values(self) -> Sequence[Effect]: ...

    def weighed(self, first: int, last: int, weigh: Weigh) -> Weighed: ...

    def bytes_used(self) -> int: ...

    @property
    def is_complete(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one check; `state` ends the path of a violation, `lasso` follows it."""

    verdict: Verdict  # HOLDS, VIOLATED, VACUOUS or UNKNOWN
    state: int = -1
    lasso: Lasso | None = None
    last: Step | None = None  # the step out of `state` that breaks the check
    way: Way | None = None  # how `state` is reached where a shortest path to it is not enough

    @property
    def is_violated(self) -> bool:
        return self.verdict == Verdict.VIOLATED


@dataclass(frozen=True, slots=True)
class Search:
    """A finished search: one finding per check, and the store for traces."""

    findings: tuple[Finding, ...]
    store: Store
    stopped_by: StoppedBy | None  # None when exhausted
    elapsed_s: float

    def path(self, state: int) -> list[tuple[int, Step]]:
        """A shortest path to a state: the steps with the states they leave."""
        chain = [state]
        while (parent := self.store.parent(chain[-1])) >= 0:
            chain.append(parent)
        chain.reverse()
        return [
            (source, next(step for step in self.store.steps(source) if step.target == target))
            for source, target in pairwise(chain)
        ]

    def way_of(self, finding: Finding) -> list[tuple[int, Step]]:
        """The path of a finding: the steps with the states they leave."""
        return self.path(finding.state) if finding.way is None else list(finding.way)

    def start_of(self, finding: Finding) -> int:
        """The initial state in which the path of a finding begins."""
        way = self.way_of(finding)
        return way[0][0] if way else finding.state

    def every_finding(self, check: Check, actor_name: Callable[[int], str]) -> Iterator[Finding]:
        """Every way in which a check is broken: at each first bad state, by each step, in each cycle."""
        store = self.store
        if check.words is not None:
            from kubeproof.engine.words import Follower

            follower = Follower(check.words)
            follower.advance(store, every=True)
            yield from (_make_finding(follower.way_to(store, node)) for node in follower.broken)
            yield from map(_make_finding, follower.lassos(store, _cyclic(store), actor_name))
            return
        if check.kind == Kind.STEP:
            for state in range(store.expanded):
                for step in store.steps(state):
                    if step.effect.tags & check.tags:
                        yield Finding(Verdict.VIOLATED, state, last=step)
            return
        if check.kind != Kind.CYCLE:
            yield from (Finding(Verdict.VIOLATED, state) for state in self._bad_states(check))
        if check.kind not in SAFETY:
            for lasso in all_lassos(store, _cyclic(store), check, actor_name):
                yield Finding(Verdict.VIOLATED, lasso.states[0], lasso)

    def _bad_states(self, check: Check) -> Iterator[int]:
        """Stable bad states; for NEVER those in which a run becomes bad."""
        store = self.store
        for state in range(store.expanded):
            if not store.flags(state) >> check.flag & 1:
                continue
            if check.kind == Kind.NEVER:
                parent = store.parent(state)
                if parent < 0 or not store.flags(parent) >> check.flag & 1:
                    yield state
            elif store.is_stable(state):
                yield state

    def root(self, state: int) -> int:
        """The initial state from which `state` was first reached."""
        while (parent := self.store.parent(state)) >= 0:
            state = parent
        return state


def make_kernel(system: System, *, engine: str = "auto", check_every: int = 0) -> Store:
    """The compiled kernel where it was built, else the plain one; `engine` forces either."""
    if engine != "python":
        compiled = find_compiled_kernel()
        if compiled is not None:
            return compiled(system, check_every=check_every)
        if engine == "compiled":
            raise ImportError("the compiled engine is not installed")
    return Kernel(system, check_every=check_every)


def find_compiled_kernel() -> Callable[..., Store] | None:
    """The compiled kernel's class, or None where the extension was not built."""
    try:
        from kubeproof.engine._kernel import CompiledKernel
    except ImportError:
        return None
    return CompiledKernel


def explore(
    system: System,
    checks: Sequence[Check],
    *,
    kernel: Store,
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop_early: bool = True,
    keeper: Keeper | None = None,
    found: Found | None = None,
) -> Search:
    """Explores the system and decides each check.

    Stops early only when every check is violated already, and not at all without `stop_early`. A reached limit leaves
    open checks unknown. With a keeper, the search continues the one on disk and is saved there; it finds what it
    would have found in one go. `found` is told of violations while the search goes on: the number of the check, and
    the search as far as it is with that one finding. An interrupt ends the search and asks `limits.stop`.
    """
    limits = limits or Limits()
    has_words = any(check.words is not None for check in checks)
    room = Room(kernel, limits, is_alone=keeper is not None or has_words)
    start = limits.clock()
    if keeper is None or not keeper.restore(kernel):
        for cells in system.initial:
            kernel.add_initial(cells)
    followers = _followers(checks)
    told = _Telling(checks, found)
    whole = checks if stop_early else ()
    stopped_by = _explore_all(kernel, whole, followers, room, start, progress, keeper, told)
    findings: dict[int, Finding] = {}
    judged = claim_promises(system, kernel)
    try:
        if keeper is not None:
            keeper.finish(kernel, is_explored=stopped_by is None, is_cut_short=is_cut_short(stopped_by))
        cut = _judge(system, judged, checks, followers, stopped_by, room, start, progress, findings)
    except (KeyboardInterrupt, MemoryError, NoDisk) as stop:
        cut = name_end(stop)
    if cut and keeper is not None:
        keeper.finish(kernel, is_explored=False, is_cut_short=True)
    if INTERRUPTED in (cut, stopped_by):
        limits.stop.ask()
    earlier_s = keeper.earlier_s if keeper is not None else 0.0
    known = tuple(findings.get(place, Finding(Verdict.UNKNOWN)) for place in range(len(checks)))
    return Search(known, judged, cut or stopped_by, limits.clock() - start + earlier_s)


def claim_promises(system: System, kernel: Store) -> Store:
    """The store in which actors that must not keep away for ever have a claim wherever they may act."""
    return cast("Store", Promising(kernel, system.promised)) if system.promised else kernel


class Promising:
    """A store whose actors that have promised to act count among those with urgent work."""

    def __init__(self, store: Store, promised: frozenset[int]) -> None:
        self._store, self._promised = store, promised

    def __len__(self) -> int:
        return len(self._store)

    def __getattr__(self, name: str) -> Any:
        if name == "_store":  # while a copy is made
            raise AttributeError(name)
        return getattr(self._store, name)

    def urgent(self, state: int) -> list[int]:
        """The actors with urgent work, and those that must not be ignored for ever."""
        able = [step.actor for step in self._store.steps(state) if step.actor in self._promised]
        return [*self._store.urgent(state), *dict.fromkeys(able)]


class _Telling:
    """Tells of each violation once, as soon as the search has come to it."""

    def __init__(self, checks: Sequence[Check], found: Found | None) -> None:
        self._open = dict(enumerate(checks)) if found is not None else {}
        self._found = found

    def __call__(self, kernel: Store, elapsed_s: float) -> None:
        if self._found is None:
            return
        for place, check in list(self._open.items()):
            state = _first_bad(kernel, check)
            if state >= 0:
                del self._open[place]
                self._found(place, Search((Finding(Verdict.VIOLATED, state),), kernel, None, elapsed_s))


def _explore_all(
    kernel: Store,
    checks: Sequence[Check],
    followers: Followers,
    room: Room,
    start: float,
    progress: Callable[[Progress], None] | None,
    keeper: Keeper | None,
    told: _Telling,
) -> StoppedBy | None:
    limits = room.limits
    max_states = limits.max_states or 2**31 - 2
    try:
        while not _expand_chunk(kernel, max_states, room, start):
            if kernel.expanded % STATES_BETWEEN_JUDGEMENTS:  # it was to end in the middle
                return limits.find_exceeded(start)
            _report(kernel, room, start, progress, "exploring")
            if _all_broken(kernel, checks, followers):
                return ALL_VIOLATED
            if keeper is not None:
                keeper.pause(kernel)
            if reason := room.find_exceeded(start):
                return reason
            told(kernel, limits.clock() - start)
    except (KeyboardInterrupt, MemoryError, LimitReached) as problem:
        return name_end(problem)
    finally:
        room.end_helpers()
    return None if kernel.is_complete else StoppedBy(StopReason.STATES, max_states)


def _expand_chunk(kernel: Store, max_states: int, room: Room, start: float) -> bool:
    """Expands states up to a whole number of chunks; True when none is left. Ends before if the search is over."""
    end = kernel.expanded - kernel.expanded % STATES_BETWEEN_JUDGEMENTS + STATES_BETWEEN_JUDGEMENTS
    while kernel.expanded < end:
        room.look()
        if kernel.run(min(STATES_BETWEEN_LOOKS, end - kernel.expanded), max_states):
            return True
        if room.limits.is_over(start):
            return False
    return False


def _all_broken(kernel: Store, checks: Sequence[Check], followers: Followers) -> bool:
    if not all(_first_bad(kernel, c) >= 0 for place, c in enumerate(checks) if place not in followers):
        return False
    for follower in followers.values() if checks else ():
        follower.advance(kernel)
    return bool(checks) and all(follower.broken for follower in followers.values())


def _first_bad(kernel: Store, check: Check) -> int:
    """The first state that breaks a check on its own, without looking at cycles; -1 if none."""
    if check.kind == Kind.NEVER:
        return kernel.first_any[check.flag]
    return -1 if check.kind in (Kind.CYCLE, Kind.STEP, Kind.WORD) else kernel.first_stable[check.flag]


def _report(kernel: Store, room: Room, start: float, progress: Callable[[Progress], None] | None, phase: str) -> None:
    if progress is not None:
        frontier = len(kernel) - kernel.expanded
        elapsed = room.limits.clock() - start
        numbers = len(kernel), kernel.transitions, frontier, kernel.depth, elapsed
        progress(Progress(*numbers, phase, room.spilled_bytes, room.processes))


def _judge(
    system: System,
    kernel: Store,
    checks: Sequence[Check],
    followers: Followers,
    stopped_by: StoppedBy | None,
    room: Room,
    start: float,
    progress: Callable[[Progress], None] | None,
    findings: dict[int, Finding],
) -> StoppedBy | None:
    """Puts into `findings` what the search says of each check; returns what ended that before all were judged.

    What needs no look at cycles comes first, so that it is known whatever happens then.
    """
    for place, check in enumerate(checks):
        state = _first_bad(kernel, check)
        if state >= 0:
            findings[place] = Finding(Verdict.VIOLATED, state)
        elif check.kind in SAFETY:
            findings[place] = _unbroken(kernel, check, stopped_by)

    def name(actor: int) -> str:
        return system.actors[actor].name

    cyclic: list[list[int]] | None = None
    for place, check in enumerate(checks):
        if place in findings:
            continue
        if not stopped_by and (reason := room.find_exceeded(start)):
            return reason
        if check.kind == Kind.STEP:
            findings[place] = _first_step(kernel, check, stopped_by)
            continue
        if cyclic is None:
            _report(kernel, room, start, progress, "looking for cycles")
            cyclic = _cyclic(kernel)
        if place in followers:
            findings[place] = _first_word(kernel, cyclic, check, followers[place], name, stopped_by)
            continue
        lasso = find_lasso(kernel, cyclic, check, name)
        found = Finding(Verdict.VIOLATED, lasso.states[0], lasso) if lasso else _unbroken(kernel, check, stopped_by)
        findings[place] = found
    return None


def _first_step(kernel: Store, check: Check, stopped_by: StoppedBy | None) -> Finding:
    """The first step with one of the tags, in the order of the search."""
    for state in range(kernel.expanded):
        for step in kernel.steps(state):
            if step.effect.tags & check.tags:
                return Finding(Verdict.VIOLATED, state, last=step)
    return _unbroken(kernel, check, stopped_by)


def _first_word(
    kernel: Store,
    cyclic: list[list[int]],
    check: Check,
    follower: Follower,
    actor_name: Callable[[int], str],
    stopped_by: StoppedBy | None,
) -> Finding:
    """A shortest run that is broken in the end, or else one that goes round for ever."""
    from kubeproof.engine.words import breaks

    follower.advance(kernel)
    if follower.broken:
        return _make_finding(follower.way_to(kernel, follower.broken[0]))
    found: list[Broken] = []
    for broken in follower.lassos(kernel, cyclic, actor_name):
        found.append(broken)
        if broken.lasso is not None and broken.lasso.is_inevitable:
            break
    if found:
        return _make_finding(
            min(found, key=lambda one: (not one.lasso.is_inevitable if one.lasso else True, len(one.way)))
        )
    if not stopped_by and any(not breaks(kernel, cyclic, words, actor_name) for words in check.stronger):
        return Finding(Verdict.VACUOUS)
    return _unbroken(kernel, check, stopped_by)


def _followers(checks: Sequence[Check]) -> Followers:
    """Whoever follows the checks that are words."""
    if all(check.words is None for check in checks):
        return {}
    from kubeproof.engine.words import Follower

    return {place: Follower(check.words) for place, check in enumerate(checks) if check.words is not None}


def _make_finding(broken: Broken) -> Finding:
    return Finding(Verdict.VIOLATED, broken.state, broken.lasso, way=broken.way)


def _unbroken(kernel: Store, check: Check, stopped_by: StoppedBy | None) -> Finding:
    if stopped_by:
        return Finding(Verdict.UNKNOWN)
    if check.relevant >= 0 and kernel.first_any[check.relevant] < 0:
        return Finding(Verdict.VACUOUS)
    return Finding(Verdict.HOLDS)


def _cyclic(kernel: Store) -> list[list[int]]:
    """The components with a cycle among the expanded states; states at the frontier have no edges yet."""
    find = getattr(kernel, "cyclic_components", None)
    if find is not None:
        return find()  # type: ignore[no-any-return]
    expanded = kernel.expanded
    return cyclic_components(range(expanded), lambda state: kernel.successors(state) if state < expanded else ())
