"""The rows of the fidelity report, which the tests compare with the committed page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.conformance.corpora import CORPORA
from tests.conformance.corpus import Corpus, Tally, compare_all, read_header

NOT_MODELLED = "recorded; not modelled yet"


def page() -> str:
    """The generated part of `docs/reference/fidelity.md`; replays every corpus."""
    tallies = [(corpus, *found) for corpus in CORPORA for found in tallies_of(corpus).items()]
    head = "| controller | corpus | upstream | compared | agreement | known differences |\n|---|---|---|---|---|---|\n"
    rows = "".join(f"{row(*entry)}\n" for entry in tallies)
    return f"{head}{rows}\n{differences()}"


def tallies_of(corpus: Corpus) -> Mapping[str, Tally | None]:
    """The comparison by upstream; None for a corpus that is recorded for later."""
    return dict.fromkeys(corpus.upstreams) if corpus.decide is None else compare_all(corpus, corpus.upstreams)


def row(corpus: Corpus, upstream: str, tally: Tally | None) -> str:
    """One line of the table."""
    header = read_header(corpus.decisions_file(upstream))
    cells = [corpus.controller, f"`{corpus.name}`", header["upstream"]]
    if tally is None:
        return _line([*cells, f"{header['count']:,} cases", NOT_MODELLED, ""])
    known = ", ".join(f"{name} ({count:,})" for name, count in tally.explained)
    return _line([*cells, f"{tally.compared:,} {corpus.unit}", _percent(tally), known])


def differences() -> str:
    """What the known differences are, by name; a sentence if there are none."""
    known = list(_known())
    if not known:
        return "There are no known differences.\n"
    return "".join(f"- **{name}** (`{corpus}`): {why}\n" for corpus, name, why in known)


def _known() -> Iterator[tuple[str, str, str]]:
    for corpus in CORPORA:
        for name, why in corpus.differences:
            yield corpus.name, name, why


def _percent(tally: Tally) -> str:
    """The share that agrees; 100 % only if nothing differs."""
    if tally.agreed == tally.compared:
        return "100 %"
    return f"{min(99.99, 100 * tally.agreed / tally.compared):.2f} %"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
