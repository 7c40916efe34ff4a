"""The matrix in words that every format shares: names of rows, cells, what stands for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kubeproof.report.matrix.causes import is_news
from kubeproof.report.sentences import count
from kubeproof.values import complete, dataclass
from kubeproof.verify.matrix.result import Cell, Grade, Matrix, Row

STUCK, UNKNOWN, STEADY = "STUCK", "?", "ok"
COUNTED = complete(
    Grade,
    {Grade.STEADY: "steady", Grade.DIPS: "dip and recover", Grade.STUCK: "STUCK", Grade.UNKNOWN: "not known"},
)
RANKS = complete(Grade, {Grade.STUCK: 0, Grade.UNKNOWN: 1, Grade.DIPS: 2, Grade.STEADY: 3})


@dataclass(frozen=True, slots=True)
class Line:
    """Rows that have the same words in every column."""

    rows: tuple[Row, ...]
    cells: tuple[Cell | None, ...]  # of the first row
    words: tuple[str, ...]

    @property
    def rank(self) -> int:
        """How bad the worst cell is, 0 for the worst."""
        return min((RANKS[cell.grade] for cell in self.cells if cell is not None), default=len(RANKS))


def lines_of(matrix: Matrix, most: int | None = None) -> tuple[Line, ...]:
    """The rows, those that fare alike together, the worst first.

    Where that is more than `most` lines, the time of a dip makes no difference: the longest is shown.
    """
    cells = {row.target: _cells(matrix, row) for row in matrix.rows}
    found = _lines(matrix, cells)
    if most is not None and len(found) > most:
        found = _lines(matrix, _without_times(cells))
    return tuple(sorted(found, key=lambda line: line.rank))


Cells = tuple[Cell | None, ...]


def _cells(matrix: Matrix, row: Row) -> Cells:
    own = {cell.faults[0]: cell for cell in matrix.cells if cell.target == row.target}
    return tuple(own.get(column.key) for column in matrix.columns)


def _lines(matrix: Matrix, cells: Mapping[str, Cells]) -> list[Line]:
    alike: dict[tuple[str, ...], list[Row]] = {}
    for row in matrix.rows:
        alike.setdefault(tuple(map(word, cells[row.target])), []).append(row)
    return [Line(tuple(rows), cells[rows[0].target], words) for words, rows in alike.items()]


def _without_times(cells: Mapping[str, Cells]) -> dict[str, Cells]:
    """The cells; rows that fall as low as each other with the longest time of any of them."""
    longest: dict[tuple[str, ...], list[int | None]] = {}
    timeless = {target: tuple(map(_timeless, own)) for target, own in cells.items()}
    for target, own in cells.items():
        known = longest.setdefault(timeless[target], [None] * len(own))
        for number, cell in enumerate(own):
            if cell is not None and cell.longest_s is not None:
                known[number] = max(known[number] or 0, cell.longest_s)
    return {
        target: tuple(
            cell if cell is None else replace(cell, longest_s=longest_s)
            for cell, longest_s in zip(own, longest[timeless[target]], strict=True)
        )
        for target, own in cells.items()
    }


def _timeless(cell: Cell | None) -> str:
    return word(cell if cell is None else replace(cell, longest_s=None))


def word(cell: Cell | None) -> str:
    """A cell in a few letters: `ok`, `0 6m`, `STUCK`, `?`; nothing where the fault does not apply."""
    if cell is None:
        return ""
    if cell.grade == Grade.DIPS:
        parts = ("dips" if cell.lowest is None else str(cell.lowest), span(cell.longest_s))
        return " ".join(part for part in parts if part)
    if cell.grade == Grade.UNKNOWN:
        return UNKNOWN if cell.lowest is None else f"{cell.lowest} {UNKNOWN}"
    return STUCK if cell.grade == Grade.STUCK else STEADY


def span(seconds: int | None) -> str:
    """A time in three letters, rounded up: `40s`, `6m`, `2h`; nothing where it is not known."""
    if seconds is None:
        return ""
    if seconds < 100:
        return f"{seconds}s"
    return f"{-(-seconds // 60)}m" if seconds < 6000 else f"{-(-seconds // 3600)}h"


def names_of(matrix: Matrix) -> dict[str, str]:
    """A short name for each workload: as much of Kind/namespace/name as tells them apart."""
    targets = [row.target for row in matrix.rows]
    return short_names(targets)


def short_names(targets: Sequence[str]) -> dict[str, str]:
    """The last part of each reference, with the namespace or the kind where two are alike."""
    wanted = tuple(dict.fromkeys(targets))
    names = {target: target.rpartition("/")[2] for target in wanted}
    for longer in (_without_kind, _without_namespace, str):
        often = Counter(names.values())
        names = {target: longer(target) if often[name] > 1 else name for target, name in names.items()}
    return names


def _without_kind(target: str) -> str:
    return target.partition("/")[2] or target


def _without_namespace(target: str) -> str:
    kind, _, rest = target.partition("/")
    return f"{kind}/{rest.rpartition('/')[2]}"


def list_names(names: Sequence[str], most: int = 6) -> str:
    """`a, b, c`; of many the first ones and how many more."""
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def titles_of(matrix: Matrix, faults: Sequence[str]) -> str:
    """What happens, as a clause; two faults joined."""
    titles = {column.key: column.title for column in matrix.columns}
    return ", and ".join(titles.get(key, key) for key in faults)


def heads_of(matrix: Matrix, faults: Sequence[str]) -> str:
    """The heads of columns: `node lost`; of a pair `node lost + drain`."""
    heads = {column.key: column.head for column in matrix.columns}
    return " + ".join(heads.get(key, key) for key in faults)


def depth_of(cells: Sequence[Cell]) -> str:
    """How deep dips are, after the workloads: `: no pod ready`; nothing for what is stuck."""
    depth = depth_words(cells)
    return f": {depth}" if depth else ""


def depth_words(cells: Sequence[Cell]) -> str:
    """How deep dips are; nothing for what is stuck."""
    lowest = [cell.lowest for cell in cells if cell.grade == Grade.DIPS and cell.lowest is not None]
    return "" if not lowest else "no pod ready" if min(lowest) == 0 else f"only {min(lowest)} ready"


def when_of(matrix: Matrix, cells: Sequence[Cell]) -> str:
    """Under which faults, those that last as long together: `(node lost, zone lost: up to 6m; drain: up to 40s)`.

    Cells that point at the result of another one, such as those of a workload that is never deployed, are left out.
    """
    own = [cell for cell in cells if cell.finding is None or cell is _first_of(cells, cell.finding)]
    longest: dict[str, int | None] = {}
    for cell in own:
        head, known = heads_of(matrix, cell.faults), cell.longest_s if cell.grade == Grade.DIPS else None
        before = longest.get(head)
        longest[head] = known if before is None else max(before, known or 0)
    alike: dict[str, list[str]] = {}
    for head, seconds in longest.items():
        alike.setdefault(span(seconds), []).append(head)
    told = [", ".join(heads) + (f": up to {lasting}" if lasting else "") for lasting, heads in alike.items()]
    always = "" if len(own) == len(cells) else "; and so whatever happens later"
    return f"({'; '.join(told)}{always})"


def _first_of(cells: Sequence[Cell], finding: int) -> Cell:
    """The first of the cells that the result stands for."""
    return next(cell for cell in cells if cell.finding == finding)


def legend(matrix: Matrix) -> Iterator[str]:
    """What the words of the matrix mean, those that occur."""
    grades = {cell.grade for cell in matrix.cells}
    if Grade.STEADY in grades:
        yield "ok never below its minimum"
    if Grade.DIPS in grades:
        yield "0 40s down to 0 ready, up to 40 s in runs explored"
    if Grade.STUCK in grades:
        yield "STUCK may never recover"
    if Grade.UNKNOWN in grades:
        yield "? not decided"


def count_cells(matrix: Matrix) -> str:
    """`12 workloads under 9 faults: 36 steady, 3 STUCK; 2 more STUCK under two faults at once`."""
    numbers = Counter(cell.grade for cell in matrix.cells)
    parts = ", ".join(f"{numbers[grade]:,} {COUNTED[grade]}" for grade in Grade if numbers[grade])
    size = f"{count(len(matrix.rows), 'workload')} under {count(len(matrix.columns), 'fault')}"
    told = f"{size}: {parts}" if parts else size
    news = sum(is_news(matrix, pair) for pair in matrix.pairs)
    return f"{told}; {news:,} {'more ' if numbers[Grade.STUCK] else ''}STUCK under two faults at once" if news else told
