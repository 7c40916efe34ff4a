"""What checks found, for every format: those that hit many objects once, with the list of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kubeproof.named_tuples import NamedTuple
from kubeproof.report.escape import escape
from kubeproof.report.frame import Frame, is_file
from kubeproof.report.sentences import count
from kubeproof.report.style import Style
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import CheckFinding, Suppression, VerifyResult

SEVERITIES = ("error", "warning", "info")
MOST_NOTES = 4  # findings up to which notes are shown without asking
MOST_SHOWN = 8  # errors and warnings that are shown without asking
MOST_ALIKE = 3  # findings of one check that are told one by one
_SHOWN = 4  # objects of more of them
_COLOURS = {"error": Verdict.VIOLATED, "warning": Verdict.UNKNOWN}


class Group(NamedTuple):
    """Findings of one check with one severity: a single one, or many."""

    findings: tuple[CheckFinding, ...]

    @property
    def first(self) -> CheckFinding:
        return self.findings[0]

    @property
    def is_many(self) -> bool:
        return len(self.findings) > 1


def check_groups(found: Iterable[CheckFinding]) -> tuple[Group, ...]:
    """The findings that nobody accepted, worst first; those of one check together if they are more than a few."""
    alike: dict[tuple[str, str], list[CheckFinding]] = {}
    for one in found:
        if one.suppression is None:
            alike.setdefault((one.severity, one.id), []).append(one)
    groups: list[Group] = []
    for several in alike.values():
        is_many = len(several) > MOST_ALIKE
        groups += [Group(tuple(several))] if is_many else [Group((one,)) for one in several]
    return tuple(sorted(groups, key=lambda group: SEVERITIES.index(group.first.severity)))


def check_counts(found: Iterable[CheckFinding]) -> str:
    """`1 error, 2 warnings`; empty if there is nothing."""
    counts = Counter(one.severity for one in found if one.suppression is None)
    words = {"info": ("note", "notes")}
    return ", ".join(count(counts[name], *words.get(name, (name,))) for name in SEVERITIES if counts[name])


def check_lines(result: VerifyResult, style: Style) -> Iterator[str]:
    """The block of a text report; nothing at all if nothing was found."""
    groups = check_groups(result.checks)
    if not groups:
        return
    yield style.heading(f"Checks ({check_counts(result.checks)})")
    chosen = [Group((one,)) for group in groups for one in group.findings] if style.verbose else _worst(groups)
    for group in chosen:
        yield from style.fold(f"  {_head(group.first, style)} ", escape(say_group(group)))
    if not style.verbose and len(chosen) < len(groups):
        rest = [one for group in groups[len(chosen) :] for one in group.findings]
        ids = ", ".join(sorted({one.id for one in rest}))
        yield from style.fold("  ", f"and {check_counts(rest)} more ({ids}); -v shows them", faint=True)
    shown = sorted({group.first.id for group in groups})
    yield f"  {style.faint(f'More: kubeproof explain {shown[0]}')}"


def _worst(groups: Sequence[Group]) -> Sequence[Group]:
    """What a short report shows: all that may need a change, up to a number, and notes only where they are few."""
    serious = [group for group in groups if group.first.severity != "info"]
    return groups if len(groups) <= MOST_NOTES else serious[:MOST_SHOWN] or groups[:MOST_NOTES]


def _head(one: CheckFinding, style: Style) -> str:
    word = f"{one.severity:<7}"
    return f"{style.in_colour_of(_COLOURS.get(one.severity, 'HOLDS'), word)} {one.id}"


def say_group(group: Group, frame: Frame = Frame()) -> str:
    """A group in one line: where, which object, what is wrong, what to do."""
    one = group.first
    if not group.is_many:
        where = f"{place(one, frame)} {one.target}".rstrip()
        return f"{where}  {one.message} -> {one.remedy}"
    objects = [f"{each.target} ({place(each, frame)})".lstrip() for each in group.findings[:_SHOWN]]
    more = len(group.findings) - _SHOWN
    listed = ", ".join(objects) + (f" and {more} more (-v)" if more > 0 else "")
    return f"{len(group.findings)} times, first: {one.message} -> {one.remedy}  {listed}"


def place(one: CheckFinding, frame: Frame = Frame()) -> str:
    """`file:line`, the file alone if it is about all of it, or where else it comes from."""
    if not one.source.line:
        return frame.path(one.source.file)
    return f"{frame.path(one.source.file)}:{one.source.line}" if is_file(one.source) else str(one.source)


def explain_accepted(given: Suppression) -> str:
    """Why a finding is accepted."""
    until = f", until {given.expires}" if given.expires else ""
    return f"suppressed by {given.kind} at {given.source}{until}: {given.reason}"


def check_values(found: Iterable[CheckFinding], frame: Frame) -> list[dict[str, str]]:
    """The findings as the page's scripts read them."""
    return [
        {
            "id": one.id,
            "key": one.key,
            "severity": one.severity,
            "target": one.target,
            "message": one.message,
            "remedy": one.remedy,
            "place": place(one, frame) if one.source.line else "",
            "accepted": "" if one.suppression is None else explain_accepted(one.suppression),
        }
        for one in found
    ]
