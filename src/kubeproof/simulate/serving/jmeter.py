"""Thread groups of a JMeter test plan (.jmx): threads, ramp, duration or loops, constant and uniform random timers.

Threads are clients at a steady pace: the time that an answer takes does not delay the next request, which JMeter would
do. Everything that would change who sends when and that is not known here (other timers, controllers, thread groups,
variables in numbers) is refused, never ignored. Properties: Apache JMeter 5.x, component reference.
"""

from __future__ import annotations

from dataclasses import field
from math import inf, isfinite
from typing import NoReturn
from xml.parsers import expat

from kubeproof.errors import HostileInputError, ManifestError
from kubeproof.events.workload import JMeterFile
from kubeproof.manifests.yaml.printable import printable
from kubeproof.simulate.serving.sources import Crowd
from kubeproof.values import dataclass

MOST_ELEMENTS, MOST_DEPTH, MOST_TEXT = 200_000, 200, 4096
_TIMERS = ("ConstantTimer", "UniformRandomTimer")
_VALUES = ("stringProp", "intProp", "longProp", "boolProp", "doubleProp")
_READ = ("ThreadGroup.", "LoopController.", "ConstantTimer.", "RandomTimer.", "TestPlan.serialize")
_UNKNOWN_ENDINGS = ("ThreadGroup", "Timer", "Controller")


@dataclass(slots=True)
class _Group:
    line: int
    values: dict[str, str] = field(default_factory=dict)
    pause_ms: float = 0.0
    spread_ms: float = 0.0
    samplers: int = 0
    depth: int = 0  # of its element; what is directly in the group is one deeper
    timed_sampler: int | None = None  # line of a timer that is about one sampler


def crowds_of(plan: JMeterFile) -> list[Crowd]:
    """The thread groups that are enabled, one after the other if the plan says so."""
    parser = _Parser(plan)
    crowds: list[Crowd] = []
    start_s = 0.0
    for group in parser.groups:
        crowd = _crowd(parser, group, start_s)
        crowds.append(crowd)
        if parser.is_serial:
            start_s = _end_of(parser, group, crowd)
    if not crowds:
        parser.refuse("no thread group that is enabled", 0)
    return crowds


def _crowd(parser: _Parser, group: _Group, start_s: float) -> Crowd:
    threads = int(parser.number(group, "ThreadGroup.num_threads", 1))
    ramp_s = parser.number(group, "ThreadGroup.ramp_time", 0)
    loops = parser.number(group, "LoopController.loops", 1, least=-1)
    is_endless = loops < 0
    is_timed = group.values.get("ThreadGroup.scheduler") == "true"
    pause_s, spread_s = group.pause_ms / 1000, group.spread_ms / 1000
    requests = inf if is_endless else loops * group.samplers
    if not group.samplers:
        parser.refuse("a thread group without a sampler", group.line)
    if group.timed_sampler is not None and group.samplers > 1:
        parser.refuse("a timer of one sampler among several", group.timed_sampler)
    if pause_s + spread_s <= 0 and requests > 1:
        parser.refuse("a thread group without a timer: its pace would be that of the answers", group.line)
    begin_s = start_s + (parser.number(group, "ThreadGroup.delay", 0) if is_timed else 0.0)
    duration_s = parser.number(group, "ThreadGroup.duration", inf) if is_timed else inf
    spacing_s = ramp_s / threads if threads else 0.0
    return Crowd(begin_s, threads, spacing_s, requests, pause_s, pause_s, spread_s, begin_s + duration_s)


def _end_of(parser: _Parser, group: _Group, crowd: Crowd) -> float:
    """When the next group begins."""
    longest = crowd.start_s + crowd.clients * crowd.spacing_s + crowd.requests * (crowd.pause_s + crowd.spread_s)
    end_s = min(crowd.end_s, longest)
    if not isfinite(end_s) and group is not parser.groups[-1]:
        parser.refuse("a thread group without an end, before another one", group.line)
    return end_s


class _Parser:
    """Collects thread groups; nothing outside the document is ever read."""

    def __init__(self, plan: JMeterFile) -> None:
        self._plan = plan
        self.groups: list[_Group] = []
        self.is_serial = False
        self._depth = self._elements = 0
        self._disabled_from: int | None = None  # depth of an element that is disabled
        self._disabled_tree: int | None = None  # depth at which the next hashTree belongs to a disabled element
        self._timer: tuple[str, int] | None = None
        self._property: str | None = None
        self._text = ""
        self._parser = expat.ParserCreate()
        self._parser.StartDoctypeDeclHandler = self._refuse_type
        self._parser.EntityDeclHandler = self._refuse_type
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        try:
            self._parser.Parse(plan.text.encode(), True)
        except expat.ExpatError as problem:
            self.refuse(f"not valid XML: {expat.ErrorString(problem.code)}", problem.lineno)

    def refuse(self, problem: str, line: int | None = None) -> NoReturn:
        at = self._parser.CurrentLineNumber if line is None else line
        remedy = "Threads, ramp, duration or loops, and constant or uniform timers of thread groups are read"
        raise ManifestError(printable(problem), file=self._plan.file, line=at, remedy=remedy)

    def _refuse_type(self, *_: object) -> NoReturn:
        raise HostileInputError(
            "a document type declaration",
            file=self._plan.file,
            line=self._parser.CurrentLineNumber,
            remedy="Remove it: test plans need neither a type nor entities",
        )

    def number(self, group: _Group, key: str, absent: float, *, least: float = 0.0) -> float:
        """A number of a group; an empty one is as absent."""
        text = group.values.get(key, "").strip()
        if not text:
            return absent
        return self._read(text, key, group.line, least)

    def _read(self, text: str, key: str, line: int, least: float = 0.0) -> float:
        try:
            number = float(text) if len(text) <= 32 else inf
        except ValueError:
            number = inf
        if not isfinite(number) or number < least:
            self.refuse(f"{key} is {text[:40]!r}, no number from {least:g} on", line)
        return number

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._elements > MOST_ELEMENTS or self._depth > MOST_DEPTH:
            raise HostileInputError(
                f"more than {MOST_ELEMENTS:,} elements, or deeper than {MOST_DEPTH}",
                file=self._plan.file, line=self._parser.CurrentLineNumber, remedy="Split the test plan",
            )  # fmt: skip
        if self._disabled_from is not None:
            return
        if name == "hashTree":
            if self._disabled_tree == self._depth:
                self._disabled_from = self._depth
            self._disabled_tree = None
        elif attributes.get("enabled") == "false":
            self._disabled_from = self._depth
        elif name in _VALUES:
            self._property, self._text = attributes.get("name", ""), ""
        elif name != "elementProp":
            self._element(name)

    def _element(self, name: str) -> None:
        if name == "ThreadGroup":
            self.groups.append(_Group(self._parser.CurrentLineNumber, depth=self._depth))
        elif name in _TIMERS:
            self._timer = (name, self._depth)
            if self._depth > self._group_of(name).depth + 1:
                self.groups[-1].timed_sampler = self._parser.CurrentLineNumber
        elif name.endswith(_UNKNOWN_ENDINGS) or name == "TestAction":  # a pause, among others
            self.refuse(f"<{name}>")
        elif name.endswith(("Sampler", "SamplerProxy")):
            self._group_of(name).samplers += 1

    def _group_of(self, name: str) -> _Group:
        """The group that the element of this name is in; a timer elsewhere would be about several."""
        if not self.groups or self._depth <= self.groups[-1].depth:
            self.refuse(f"<{name}> outside of a thread group")
        return self.groups[-1]

    def _characters(self, text: str) -> None:
        if self._property is not None and self._disabled_from is None:
            self._text += text
            if len(self._text) > MOST_TEXT and self._property.startswith(_READ):
                self.refuse(f"a value of more than {MOST_TEXT:,} characters")
            self._text = self._text[: MOST_TEXT + 1]

    def _end(self, name: str) -> None:
        if self._disabled_from == self._depth:
            self._disabled_from = None
            self._disabled_tree = self._depth if name != "hashTree" else None
        elif self._disabled_from is None:
            self._close(name)
        self._depth -= 1

    def _close(self, name: str) -> None:
        if self._timer == (name, self._depth):
            self._timer = None
        if name in _VALUES and self._property is not None:
            self._keep(self._property, self._text)
            self._property = None

    def _keep(self, key: str, text: str) -> None:
        if key == "TestPlan.serialize_threadgroups":
            self.is_serial = text == "true"
        if not key.startswith(_READ) or not self.groups:
            return
        group, line = self.groups[-1], self._parser.CurrentLineNumber
        if key == "ConstantTimer.delay" and self._timer:
            group.pause_ms += self._read(text.strip() or "0", key, line)
        elif key == "RandomTimer.range" and self._timer:
            group.spread_ms += self._read(text.strip() or "0", key, line)
        else:
            group.values[key] = text
