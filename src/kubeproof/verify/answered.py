"""Which strategy answered an intent, and why those before it did not."""

from __future__ import annotations

from enum import StrEnum

from kubeproof.values import complete, dataclass


class Reason(StrEnum):
    """Why a strategy does not answer an intent: the words that JSON reports have for it."""

    NOT_ASKED = "not-asked"
    OTHER_ENGINE = "other-engine"
    SWITCHED_OFF = "switched-off"
    EVERY_VIOLATION = "every-violation"
    OWN_CONTROLLERS = "own-controllers"
    CHECKPOINT = "checkpoint"
    SMALL_LIMIT = "small-limit"
    USER_LIMIT = "user-limit"
    NO_PARTS = "no-parts"
    MANY_INTENTS = "many-intents"
    PARTS_MEET = "parts-meet"
    PODS_MEET = "pods-meet"
    WHOLE_IS_LARGER = "whole-is-larger"
    NO_START = "no-start"
    NO_BOUND = "no-bound"
    AT_REST_ANYWAY = "at-rest-anyway"
    NOTHING_CUT = "nothing-cut"
    LIMIT = "limit"
    TRIED = "tried"
    NOT_PROVED = "not-proved"
    NOT_BROKEN = "not-broken"
    NOT_SHOWN = "not-shown"
    FAILED = "failed"


WORDS = complete(
    Reason,
    {
        Reason.NOT_ASKED: "nobody asked for it",
        Reason.OTHER_ENGINE: "another engine was asked for",
        Reason.SWITCHED_OFF: "switched off",
        Reason.EVERY_VIOLATION: "all violations were asked for",
        Reason.OWN_CONTROLLERS: "controllers of your own may read and do everything",
        Reason.CHECKPOINT: "a run that is saved and resumed searches the whole at once",
        Reason.SMALL_LIMIT: "the limit is so small that the whole is searched at once",
        Reason.USER_LIMIT: "the limits were asked for",
        Reason.NO_PARTS: "the input has no parts to look at alone",
        Reason.MANY_INTENTS: "more intents than one search follows",
        Reason.PARTS_MEET: "parts may be on the move at the same time",
        Reason.PODS_MEET: "what is asked for does not follow from what becomes of single pods",
        Reason.WHOLE_IS_LARGER: "the search of its part came to a limit, and the whole is larger",
        Reason.NO_START: "the first placements are not known",
        Reason.NO_BOUND: "sizes and budgets alone do not decide it",
        Reason.AT_REST_ANYWAY: "all events come to a cluster at rest anyway",
        Reason.NOTHING_CUT: "no search was cut short",
        Reason.LIMIT: "it came to a limit",
        Reason.TRIED: "tried before from the same first states",
        Reason.NOT_PROVED: "no proof",
        Reason.NOT_BROKEN: "it breaks nothing",
        Reason.NOT_SHOWN: "a violation was not shown as a run of all workloads",
        Reason.FAILED: "it failed",
    },
)


@dataclass(frozen=True, slots=True)
class Declined:
    """Why there is no answer."""

    reason: Reason
    detail: str = ""  # more about it, without a full stop

    def by(self, name: str) -> PassedOver:
        """The same, of a strategy."""
        return PassedOver(name, str(self.reason), self.detail)


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A strategy or a model that did not answer an intent."""

    name: str
    reason: str  # one of Reason
    detail: str = ""

    @property
    def words(self) -> str:
        """The reason as a sentence without a full stop."""
        return f"{WORDS[Reason(self.reason)]}{f': {self.detail}' if self.detail else ''}"


@dataclass(frozen=True, slots=True)
class Answered:
    """Who answered an intent."""

    name: str = ""  # of the strategy; "": nobody
    model: str = ""  # of a search: the model that answered
    before: tuple[PassedOver, ...] = ()  # in the order in which they were passed over
