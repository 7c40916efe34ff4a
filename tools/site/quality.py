"""The page of quality in the open: what is counted in the repository, and what nights measured.

Counts are made when the site is built. Measurements are lines of `docs/reference/nights.jsonl`, one for each night that
`python -m tools.nightly --record` has run.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
NIGHTS = ROOT / "docs" / "reference" / "nights.jsonl"
MOST_NIGHTS = 30
HEAD = """# Quality in the open

Written when this site was built: counts of what is in the repository, and what the last nights measured.
What the model decides compared with the real components is on [a page of its own](fidelity.md), what it says about
public manifests [on another](public-manifests.md).
"""
MUTANT_TABLES = {
    "decisions of real components catch": "tests/conformance/mutants",
    "differential tests of reductions and proofs catch": "tests/differential/guards",
    "tests of proofs for every size catch": "tests/differential/test_any_size_mutants.py",
}
_FIDELITY = re.compile(r"^\| [^|]+ \| `[^`]+` \| [^|]+ \| ([\d,]+) (?:decisions|syncs)", re.MULTILINE)


def page() -> str:
    """The page in Markdown."""
    return "\n".join([HEAD, *_counted(), *_mutants(), *_nights(read_nights())])


def _counted() -> Iterator[str]:
    yield "## Tests\n\n| folder | files | tests | of these slow |\n|---|---|---|---|"
    total = (0, 0, 0)
    for folder in sorted(path for path in TESTS.iterdir() if path.is_dir()):
        found = count_tests(folder)
        total = tuple(map(sum, zip(total, found, strict=True)))  # type: ignore[assignment]
        if found[1]:
            yield f"| `tests/{folder.name}` | {found[0]:,} | {found[1]:,} | {found[2]:,} |"
    yield f"| **all** | **{total[0]:,}** | **{total[1]:,}** | **{total[2]:,}** |\n"
    yield "A test function counts once, however many inputs it has. Random inputs are made by Hypothesis.\n"
    compared = sum(int(number.replace(",", "")) for number in _FIDELITY.findall(_text("docs/reference/fidelity.md")))
    yield "## Corpora\n\n| corpus | size |\n|---|---|"
    yield f"| decisions of real components, replayed in every test run | {compared:,} |"
    recorded = list((TESTS / "golden").rglob("*.yaml"))
    yield f"| inputs with recorded verdict, states and trace | {len(recorded):,} files |"
    yield f"| shipped failure cases | {len(list((ROOT / 'src/kubeproof/cases').glob('*/case.yaml'))):,} |"
    yield f"| decisions about the design | {len(list((ROOT / 'docs/decisions').glob('[0-9]*.md'))):,} |\n"


def count_tests(folder: Path) -> tuple[int, int, int]:
    """Files with tests, tests, and slow ones among them."""
    files = tests = slow = 0
    for path in folder.rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        all_slow = any("mark.slow" in ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign))
        files += bool(found)
        tests += len(found)
        slow += sum(all_slow or any("mark.slow" in ast.unparse(one) for one in node.decorator_list) for node in found)
    return files, tests, slow


def _mutants() -> Iterator[str]:
    yield "## Mutants\n"
    yield "A mutant is the product with one rule or condition broken on purpose. A test fails if any of them survives,"
    yield "so the score of those below is 100 % in every version that is released.\n\n| who | mutants |\n|---|---|"
    for who, place in MUTANT_TABLES.items():
        yield f"| {who} | {count_mutants(ROOT / place):,} |"
    yield ""


def count_mutants(place: Path) -> int:
    """Calls that make one: `Mutant(…)`, `Guard(…)`, or a name that ends so."""
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    calls = [
        node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)
    ]
    return sum(ast.unparse(call.func).lower().endswith(("mutant", "guard")) for call in calls)


def read_nights(path: Path = NIGHTS) -> list[dict[str, Any]]:
    """What was measured, the last first."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()][::-1]


def _nights(nights: list[dict[str, Any]]) -> Iterator[str]:
    yield "## Nights\n"
    yield "`python -m tools.nightly` runs what is too slow for every change, with a new seed for random inputs.\n"
    if not nights:
        yield "No night is recorded yet.\n"
        return
    yield "| day | version | seed | tests | failed | hours of tests | coverage |\n|---|---|---|---|---|---|---|"
    for night in nights[:MOST_NIGHTS]:
        share = night.get("coverage")
        cells = (
            night["day"], night["version"], night["seed"], f"{night['tests']:,}", night["failed"],
            f"{night['seconds'] / 3600:.2f}", "not measured" if share is None else f"{share:.1f} %",
        )  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"
    yield f"\nAll nights together: {sum(night['seconds'] for night in nights) / 3600:,.1f} hours of tests.\n"
    yield from _benchmarks(nights)


def _benchmarks(nights: list[dict[str, Any]]) -> Iterator[str]:
    names = sorted({name for night in nights for name in night.get("benchmarks", {})})
    if not names:
        return
    yield f"## Benchmarks\n\nSeconds of the processor.\n\n| day | {' | '.join(names)} |\n|---|{'---|' * len(names)}"
    for night in nights[:MOST_NIGHTS]:
        values = [night.get("benchmarks", {}).get(name) for name in names]
        yield f"| {night['day']} | {' | '.join('' if one is None else f'{one:.2f}' for one in values)} |"
    yield ""


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")
