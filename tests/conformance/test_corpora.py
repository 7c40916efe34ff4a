"""Our controllers decide what the real ones decided."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from tests.conformance.corpora import CORPORA
from tests.conformance.corpus import DATA, Corpus, compact, compare_all, digest, read_header, read_lines
from tests.conformance.fidelity import differences, row

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "fidelity.md"
MOST_BYTES = 15_000_000
RECORDED = [(corpus, upstream) for corpus in CORPORA for upstream in corpus.upstreams]
COMPARED = [corpus for corpus in CORPORA if corpus.decide is not None]
MOST_EXPLAINED = 0.03  # share of decisions; a reason that excuses more would hide mistakes


def _name(value: object) -> str:
    return value.name if isinstance(value, Corpus) else str(value)


@pytest.mark.parametrize("corpus", COMPARED, ids=_name)
def test_our_model_decides_like_the_real_component(corpus: Corpus) -> None:
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    for upstream, tally in compare_all(corpus, corpus.upstreams).items():
        assert tally.unexplained == (), compact(tally.unexplained[0].case)
        assert {name for name, _ in tally.explained} <= {name for name, _ in corpus.differences}
        assert sum(count for _, count in tally.explained) <= MOST_EXPLAINED * tally.compared
        assert row(corpus, upstream, tally) in rows


@pytest.mark.parametrize("corpus", CORPORA, ids=_name)
def test_decisions_belong_to_the_recorded_inputs(corpus: Corpus) -> None:
    cases = list(read_lines(corpus.inputs_file))
    header = read_header(corpus.inputs_file)

    assert header == {"corpus": corpus.name, "seed": corpus.seed, "count": len(cases), "digest": digest(cases)}
    for upstream in corpus.upstreams:
        recorded = read_header(corpus.decisions_file(upstream))
        assert {key: recorded[key] for key in header} == header
        assert recorded["module"] == upstream


@pytest.mark.parametrize("corpus", CORPORA, ids=_name)
def test_recorded_inputs_are_what_the_seed_generates(corpus: Corpus) -> None:
    assert list(islice(read_lines(corpus.inputs_file), 25)) == list(islice(corpus.cases(), 25))


def test_every_recorded_upstream_has_a_row_and_every_difference_its_reason() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert differences() in text
    for corpus, upstream in RECORDED:
        assert f"| `{corpus.name}` | {read_header(corpus.decisions_file(upstream))['upstream']} |" in text


def test_the_corpora_stay_small() -> None:
    assert sum(file.stat().st_size for file in DATA.iterdir()) <= MOST_BYTES


def test_every_file_belongs_to_a_corpus() -> None:
    files = {corpus.inputs_file for corpus in CORPORA}
    files |= {corpus.decisions_file(upstream) for corpus, upstream in RECORDED}

    assert set(DATA.iterdir()) == files
