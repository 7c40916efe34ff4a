"""The reference page of formulas has every function and every template."""

from pathlib import Path

from kubeproof.intents.declarations import BY_KERNEL_PANIC, EVICTORS
from kubeproof.intents.facts.evictors import EVICTION_TAGS
from kubeproof.intents.predicates.vocabulary import FUNCTIONS
from tests.oracles.templates import FROM_THE_START, OWN_FORMULAS, WHENS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "ltl.md"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def test_every_function_is_in_the_reference_as_it_is():
    page = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [f"| `{_cell(one.usage)}` | {one.gives} | {one.text} |" for one in FUNCTIONS.values()]

    assert [row for row in rows if row not in page] == []


def test_every_template_is_in_the_reference():
    page = PAGE.read_text(encoding="utf-8")
    formulas = {*WHENS.values(), *OWN_FORMULAS.values(), FROM_THE_START}

    assert [formula for formula in formulas if f"`{_cell(formula)}`" not in page] == []


def test_every_evictor_has_its_mark():
    assert set(EVICTION_TAGS) == set(EVICTORS) - {BY_KERNEL_PANIC}
