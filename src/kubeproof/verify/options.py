"""How a verification is asked for, and what it tells while it runs."""

from __future__ import annotations

from dataclasses import field

from kubeproof.values import dataclass

ENGINES = ("auto", "compiled", "python", "reference")
SYMMETRY, UNISON, PARTIAL_ORDER, SLICING, ABSTRACTION = "symmetry", "unison", "por", "slicing", "abstraction"
REDUCTIONS = (SYMMETRY, UNISON, PARTIAL_ORDER, SLICING, ABSTRACTION)  # what can be switched off one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How many states those searches may take that no user limits one by one."""

    max_at_first: int = 20_000  # of the whole, before its parts are looked at
    max_alone: int = 60_000  # of one part
    max_at_last: int = 20_000  # of the whole for what is left open, with the scenario that nobody wrote
    max_repeated: int = 10_000  # of the search that looks for a shorter counterexample in every order
    max_tried: int = 256  # of a full model that is tried before a coarser one: small ones are done by then
    max_unaided: int = 8_000  # of a search, before walks go beside it; then whenever its states have doubled
    max_looks: int = 2_000  # of the walks at each of these moments
    states_for_a_look: int = 20  # of a search with a limit on states, after which walks take a share of it
    max_shorter: int = 100_000  # of a search for which walks have found all: it may find shorter runs
    max_unasked: int = 500_000  # of a search with the built-in scenario and without limits: nobody asked for all of it


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """Everything a user may choose about one verification; None means no limit."""

    engine: str = "auto"  # one of ENGINES; auto: compiled if it is installed, otherwise python
    max_states: int | None = None
    timeout_s: float | None = None
    memory_bytes: int | None = None
    spill_directory: str | None = None  # for what does not fit into that; None: where temporary files go
    processes: int = 1  # of each search, once it turns out to be long; 0: one per processor
    reductions: bool = True  # False: none of REDUCTIONS
    without: tuple[str, ...] = ()  # those of REDUCTIONS that are left out
    check_controllers: bool = False  # re-run a sample of memoised answers and compare
    find_all: bool = False  # all distinct violations of each intent instead of the first
    controllers: tuple[str, ...] = ()  # "path.py:Class" of the user's own controllers
    effort: Effort = Effort()
    has_usual_timeout: bool = False  # nobody asked for `timeout_s`: it only sees to it that there is an end
    spent_s: float = field(default=0.0, compare=False)  # of `timeout_s`, before all this begins: for reading the input

    @property
    def is_limited(self) -> bool:
        """True if the user says how far a search may go."""
        is_timed = self.timeout_s is not None and not self.has_usual_timeout
        return self.max_states is not None or is_timed or self.memory_bytes is not None

    def uses(self, reduction: str) -> bool:
        """True if one of REDUCTIONS is wanted. All violations need every order of steps."""
        if self.find_all and reduction in (UNISON, PARTIAL_ORDER):
            return False
        return self.reductions and reduction not in self.without


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """Where a running search stands."""

    states: int
    transitions: int
    frontier: int
    depth: int
    elapsed_s: float
    phase: str  # what is being done, in words: "searching", "looking for loops"
