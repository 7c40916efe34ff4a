"""The gallery of failure cases: a page for each, with its counterexample in words and as a rendered report."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

from kubeproof.cases.library import SAFE, VIOLATING, Case, list_cases, text_of
from kubeproof.cli.main import main

RUN_BEGINS = ("  Shortest run", "  A run")
RUN_ENDS = "  Objects involved"  # from here on the report speaks of files of the installation


def write(folder: Path, *, reports_of: frozenset[str] | None = None) -> None:
    """Writes all pages, and the reports of the cases named, or of all."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = list_cases()
    (folder / "index.md").write_text(_index(cases), encoding="utf-8")
    for case in cases:
        has_reports = reports_of is None or case.name in reports_of
        if has_reports:
            for variant in (VIOLATING, SAFE):
                _run(case, variant, "-o", f"html={folder / _report(case, variant)}", "-o", "text")
        (folder / f"{case.name}.md").write_text("\n".join(_page(case, has_reports)), encoding="utf-8")


def _index(cases: tuple[Case, ...]) -> str:
    head = """# Sixteen failures and their repairs

Each is a cluster in which every part looks right. `kubeproof cases run c8` runs one,
`kubeproof cases show c8 > mine.yaml`
is a start for [your own](../how-to/cases.md).

| case | what goes wrong | who is involved |
|---|---|---|
"""
    return head + "".join(
        f"| [{case.name.upper()}]({case.name}.md) | {case.title} | {', '.join(case.controllers)} |\n" for case in cases
    )


def _page(case: Case, has_reports: bool) -> Iterator[str]:
    yield f"# {case.name.upper()}: {case.title}\n"
    yield f"{case.explain}\n"
    yield f"- **Must hold**: {case.property}"
    yield f"- **Controllers**: {', '.join(case.controllers)}"
    yield f"- **Size**: {case.nodes} nodes, {case.pods} pods"
    yield f"- **Source**: {case.source}\n"
    yield "| variant | verdict | what is different |\n|---|---|---|"
    yield from (f"| {each.name} | {each.expected} | {each.about} |" for each in case.variants)
    if has_reports:
        violating, safe = (_report(case, variant) for variant in (VIOLATING, SAFE))
        yield f"\n**[Watch the counterexample]({violating})** step by step, or read [the report of the repair]({safe})."
    yield f"\n## What happens\n\n```text\n$ kubeproof cases run {case.name}\n{_told(case)}\n```\n"
    yield f"## The manifests\n\n```yaml\n{text_of(case.name, VIOLATING).rstrip()}\n```\n"


def _told(case: Case) -> str:
    """The counterexample as the command tells it."""
    lines = _run(case, VIOLATING).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("VIOLATED"))
    begin = next(i for i, line in enumerate(lines) if i > first and line.startswith(RUN_BEGINS))
    end = next(i for i, line in enumerate(lines) if i > begin and line.startswith(RUN_ENDS))
    return "\n".join([*lines[first : first + 2], *lines[begin:end]])


def _run(case: Case, variant: str, *options: str) -> str:
    """What `kubeproof cases run` prints for one variant."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = main(["cases", "run", case.name, "--variant", variant, "--color", "never", *options])
    if code != 0:
        raise RuntimeError(f"{case.name} {variant}: not as expected")
    return printed.getvalue()


def _report(case: Case, variant: str) -> str:
    return f"{case.name}-{variant}.html"
