"""Every error Kubeproof raises on purpose: code, place, problem, remedy, exit code."""

from __future__ import annotations


class KubeproofError(Exception):
    """Base of all errors; `exit_code` follows the command-line contract."""

    code = "E000"
    exit_code = 70


class ManifestError(KubeproofError):
    """A manifest could not be used."""

    code = "E101"
    exit_code = 4
    is_about_shape = False  # a value of another type than the field has, or a missing one: no API server stores it
    is_missing = False  # something is named that the input does not have
    together: tuple[ManifestError, ...] = ()  # this one with all others that one Scenario has
    rest: bytes | None = None  # of a recipe: the manifests that it gives without what is refused

    def __init__(self, problem: str, *, file: str, line: int, remedy: str) -> None:
        place = f"{file}:{line}" if line else file  # what concerns the whole file has no line
        super().__init__(f"{self.code} {place}: {problem}. {remedy}")
        self.problem, self.file, self.line, self.remedy = problem, file, line, remedy


class HostileInputError(ManifestError):
    """Input built to exhaust time or memory, or that no honest tool writes."""

    code = "E102"
    exhausts_input = False  # a bound of the whole input is reached, so that nothing more is read


class EventError(ManifestError):
    """A stream or trace of events could not be read."""

    code = "E103"


class ScenarioError(ManifestError):
    """A Scenario that is well-formed but cannot be used: wrong configuration."""

    code = "E201"
    exit_code = 2


class UsageError(KubeproofError):
    """Wrong command line or configuration."""

    code = "E202"
    exit_code = 2

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(f"{self.code} {problem}. {remedy}".rstrip())


class CheckpointError(KubeproofError):
    """A checkpoint that cannot be continued, or would be overwritten."""

    code = "E203"
    exit_code = 2

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{self.code} {problem}. {remedy}")


class FormulaError(KubeproofError):
    """A formula or predicate that cannot be read."""

    code = "E204"
    exit_code = 2

    def __init__(self, problem: str, *, text: str, column: int, remedy: str, what: str = "formula") -> None:
        super().__init__(f"{self.code} column {column}: the {what} {problem}. {remedy}.")
        self.problem, self.text, self.column, self.remedy = problem, text, column, remedy


class AutomatonError(KubeproofError):
    """An automaton file that cannot be read or used."""

    code = "E205"
    exit_code = 4

    def __init__(self, problem: str, *, file: str, line: int, remedy: str) -> None:
        super().__init__(f"{self.code} {file}:{line}: {problem}. {remedy}.")
        self.problem, self.file, self.line, self.remedy = problem, file, line, remedy


class PredicateError(KubeproofError):
    """A predicate over cluster states that cannot be read."""

    code = "E206"
    exit_code = 2

    def __init__(self, problem: str, *, text: str, column: int, remedy: str) -> None:
        super().__init__(f"{self.code} column {column}: the predicate {problem}. {remedy}")
        self.problem, self.text, self.column, self.remedy = problem, text, column, remedy


class ProgramError(KubeproofError):
    """A probabilistic program that cannot be used: not PRISM, rows that do not sum to 1, values out of range."""

    code = "E207"
    exit_code = 4

    def __init__(self, problem: str, *, file: str, line: int = 0, column: int = 0, remedy: str) -> None:
        place = ":".join([file, *(str(number) for number in (line, column) if number)])
        super().__init__(f"{self.code} {place}: {problem}. {remedy.rstrip('.')}.")
        self.problem, self.file, self.line, self.column, self.remedy = problem, file, line, column, remedy


class QuantityError(ProgramError):
    """A probabilistic property that cannot be used: not PCTL, unknown labels or rewards, open constants, a filter."""

    code = "E208"
    exit_code = 2


class RuleError(ManifestError):
    """A rule for streams of events that cannot be used."""

    code = "E209"
    exit_code = 2


class SettingsError(ManifestError):
    """A settings file or baseline that cannot be used."""

    code = "E210"
    exit_code = 2


class NothingToCheckError(KubeproofError):
    """The input holds no workload or no property."""

    code = "E301"
    exit_code = 5


class LimitReached(KubeproofError):
    """A limit was reached before the answer: of time, memory, or of alternatives that are followed."""

    code = "E302"
    exit_code = 3


class EnvironmentProblem(KubeproofError):
    """Something outside is missing: a cluster, a permission, an extra, a program."""

    code = "E401"
    exit_code = 6


class RecipeError(EnvironmentProblem):
    """A chart or kustomization whose program is missing, cannot be started, or does not end."""

    def __init__(self, problem: str, *, file: str, remedy: str) -> None:
        super().__init__(f"{self.code} {file}: {problem}. {remedy}")
        self.problem, self.file, self.line, self.remedy = problem, file, 0, remedy


class ClusterError(EnvironmentProblem):
    """A cluster that cannot be reached, does not know us, or does not let us read."""

    code = "E402"

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{self.code} {problem}. {remedy.rstrip('.')}.")
        self.problem, self.remedy = problem, remedy


class ImpureControllerError(KubeproofError):
    """A controller gave two answers for the same view."""

    code = "E701"


class InternalError(KubeproofError):
    """A promise of ours is broken."""

    code = "E700"


class FootprintError(InternalError):
    """A loop, event or fact reads or does what it does not declare: nothing that rests on declarations is an answer."""
