"""Nights: slow tests are dealt into shards and run with a seed; the site shows what was measured and counted."""

from __future__ import annotations

import json

import pytest

from tools import nightly
from tools.site import quality


def test_every_slow_file_is_in_one_shard():
    files = nightly.slow_files()
    dealt = nightly.deal(files, 6, {})

    assert sorted(name for shard in dealt for name in shard) == files
    assert len(files) > 20


def test_shards_are_about_as_long_as_each_other():
    times = {f"tests/{number}.py": float(number) for number in range(1, 21)}

    lengths = [sum(times[name] for name in shard) for shard in nightly.deal(list(times), 3, times)]

    assert max(lengths) - min(lengths) <= 20
    assert sum(lengths) == 210


def test_the_seed_is_handed_on_and_told(capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(
        nightly, "run_shard", lambda files, seed, **_: asked.append(seed) or nightly.Result(0, 3, 0, 1.0, {})
    )
    monkeypatch.setattr(nightly, "TIMES", nightly.ROOT / "nothing-here.json")
    monkeypatch.setattr("pathlib.Path.write_text", lambda *_, **__: None)

    assert nightly.main(["--seed", "42"]) == 0
    assert asked == [42] * 6
    assert capsys.readouterr().out.endswith("seed 42: 18 tests, 0 failed\n")


def test_a_shard_runs_only_slow_tests_with_the_seed_and_ends_in_time(tmp_path, monkeypatch):
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "from hypothesis import given, strategies\n"
        "def test_quick(): assert False\n"
        "@pytest.mark.slow\n@given(strategies.integers())\ndef test_slow(n): pass\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: slow\n")
    monkeypatch.setattr(nightly, "ROOT", tmp_path)
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)

    result = nightly.run_shard(["test_it.py"], 7, minutes=5, coverage=False, workers="0")

    assert (result.code, result.tests, result.failed) == (0, 1, 0)
    assert list(result.times) == ["test_it.py"]


@pytest.mark.parametrize("text", ["0/6", "7/6", "2", "x/6"])
def test_a_shard_that_is_none_is_refused(text):
    with pytest.raises(SystemExit):
        nightly.main(["--shard", text])


def test_the_page_counts_tests_mutants_and_corpora():
    page = quality.page()

    assert "| `tests/conformance` |" in page
    numbers = [int(line.split("|")[2].replace(",", "")) for line in page.splitlines() if "catch |" in line]
    assert len(numbers) == 3
    assert min(numbers) >= 5
    assert numbers[0] > 200
    compared = next(line for line in page.splitlines() if line.startswith("| decisions of real components, replayed"))
    assert int(compared.split("|")[2].replace(",", "")) > 100_000


def test_nights_are_shown_the_last_first(tmp_path):
    path = tmp_path / "nights.jsonl"
    night = {"version": "1", "seed": 5, "tests": 100, "failed": 0, "seconds": 7200, "coverage": 97.5}
    benchmarks = {"engine": 1.5}
    path.write_text(
        json.dumps({"day": "2030-01-01", **night}) + "\n"
        + json.dumps({"day": "2030-01-02", **night, "benchmarks": benchmarks}) + "\n"
    )  # fmt: skip

    text = "\n".join(quality._nights(quality.read_nights(path)))

    assert text.index("2030-01-02") < text.index("2030-01-01")
    assert "All nights together: 4.0 hours" in text
    assert "97.5 %" in text
    assert "| 2030-01-02 | 1.50 |" in text
