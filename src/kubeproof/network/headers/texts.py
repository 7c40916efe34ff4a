"""Reads what devices print: `ip route`, `iptables-save`; and sets of headers as people write them."""

from __future__ import annotations

import ipaddress
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NoReturn

from kubeproof.cluster.objects import Source
from kubeproof.errors import ManifestError, UsageError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.network.headers.model import (
    ACCEPT,
    DPORT,
    DROP,
    DST,
    EVERYTHING,
    JUMP,
    OWN_ADDRESS,
    PROTO,
    PROTOCOLS,
    RETURN,
    REWRITE,
    SPORT,
    SRC,
    Box,
    Chain,
    Range,
    Route,
    Rule,
    prefix,
)
from kubeproof.values import dataclass

MOST_BOXES = 1_000  # of one rule
_TABLES = {
    "filter": ("INPUT", "FORWARD", "OUTPUT"),
    "nat": ("PREROUTING", "POSTROUTING"),
}
_UNREAD = {"nat": ("INPUT", "OUTPUT")}  # chains that must be empty
_WITH_VALUE = ("proto", "scope", "src", "table", "mtu", "advmss", "pref", "expires", "realm")
_NOWHERE = ("blackhole", "unreachable", "prohibit", "throw")
_OWN = ("local", "broadcast", "multicast", "anycast")


class Line:
    """One line of what was printed, and how to refuse it."""

    def __init__(self, text: str, source: Source) -> None:
        self.text = text
        self.source = source

    def fail(self, problem: str, remedy: str) -> NoReturn:
        raise ManifestError(problem, file=self.source.file, line=self.source.line, remedy=remedy)

    def address(self, text: str) -> int:
        """An IPv4 address."""
        try:
            return int(ipaddress.IPv4Address(text))
        except ValueError:
            self.fail(f"{printable(text)!r} is no IPv4 address", "Write one such as 10.0.0.1")

    def network(self, text: str) -> tuple[Range, int]:
        """A prefix, or `default`; its addresses and its length."""
        if text == "default":
            return EVERYTHING[DST], 0
        try:
            found = ipaddress.IPv4Network(text, strict=False)
        except ValueError:
            self.fail(f"{printable(text)!r} is no IPv4 prefix", "Write one such as 10.0.0.0/8")
        return prefix(int(found.network_address), found.prefixlen), found.prefixlen

    def number(self, text: str, most: int) -> int:
        """A number up to a bound."""
        if not text.isdecimal() or int(text[:9]) > most:
            self.fail(f"{printable(text)!r} is no number up to {most}", "Correct it")
        return int(text)


def lines_of(text: str, file: str, first: int) -> list[Line]:
    """The lines of a text, without empty ones and remarks."""
    numbered = enumerate(text.split("\n"), first)
    return [
        Line(line.strip(), Source(file, number)) for number, line in numbered if line.strip() and line.strip()[0] != "#"
    ]


def read_routes(lines: Sequence[Line]) -> tuple[Route, ...]:
    """The routes that `ip route` prints."""
    return tuple(route for line in lines if (route := _route(line)) is not None)


def _route(line: Line) -> Route | None:
    words = line.text.split()
    if words[0] in _OWN:
        return None  # addresses of the device itself, known from its interfaces
    kind = words.pop(0) if words[0] in (*_NOWHERE, "unicast") else "unicast"
    if not words:
        line.fail("a route without a destination", "Print it with: ip route")
    to, length = line.network(words.pop(0))
    given: dict[str, str] = {}
    while words:
        word = words.pop(0)
        if word in ("onlink", "linkdown"):
            continue
        if word not in (*_WITH_VALUE, "via", "dev", "metric") or not words:
            line.fail(f"{printable(word)!r} is not understood", "Leave it out if packets go the same way without it")
        given[word] = words.pop(0)
    metric = line.number(given.get("metric", "0"), 2**32 - 1)
    if kind in _NOWHERE:
        return Route(to, length, metric=metric, source=line.source)
    if "dev" not in given:
        line.fail("a route without dev", "Print it with: ip route")
    via = line.address(given["via"]) if "via" in given else None
    return Route(to, length, given["dev"], via, metric, line.source)


# iptables-save


def read_chains(lines: Sequence[Line]) -> dict[str, Chain]:
    """The chains of the tables filter and nat that `iptables-save` prints."""
    return _Chains().read(lines)


@dataclass(slots=True)
class _Match:
    """What a rule asks for, range by range for each field."""

    ranges: list[list[Range]]
    never: bool = False
    comes_by: str = ""
    leaves_by: str = ""


class _Chains:
    def __init__(self) -> None:
        self._table = ""
        self._rules: dict[str, list[Rule]] = {}
        self._policies: dict[str, str] = {}
        self._jumps: list[tuple[str, Line]] = []

    def read(self, lines: Sequence[Line]) -> dict[str, Chain]:
        for line in lines:
            self._line(line)
        for chain, line in self._jumps:
            if chain not in self._rules:
                line.fail(f"no chain {printable(chain.partition('/')[2])!r}", "Print all chains with: iptables-save")
        return {name: Chain(tuple(rules), self._policies[name]) for name, rules in self._rules.items()}

    def _line(self, line: Line) -> None:
        text = line.text
        if text.startswith("*"):
            self._table = text[1:]
        elif text == "COMMIT":
            self._table = ""
        elif text.startswith(":"):
            self._declare(line)
        else:
            try:
                words = shlex.split(text)
            except ValueError:
                line.fail("a quote is not closed", "Print it with: iptables-save")
            if words[0].startswith("["):
                words = words[1:]  # counters
            if len(words) < 2 or words[0] != "-A":
                line.fail("no rule", "Print it with: iptables-save")
            self._rule(line, words[1], words[2:])

    def _declare(self, line: Line) -> None:
        words = line.text[1:].split()
        name = f"{self._table}/{words[0]}"
        policy = words[1] if len(words) > 1 else "-"
        if policy not in ("ACCEPT", "DROP", "-"):
            line.fail(f"{printable(policy)!r} is no policy", "Write ACCEPT, DROP or -")
        if policy == "DROP" and self._table == "nat":
            line.fail("nat does not drop", "Write ACCEPT")
        self._rules.setdefault(name, [])
        self._policies[name] = {"ACCEPT": ACCEPT, "DROP": DROP, "-": RETURN}[policy]

    def _rule(self, line: Line, chain: str, words: list[str]) -> None:
        if self._table not in _TABLES or chain in _UNREAD.get(self._table, ()):
            line.fail(
                f"rules of {self._table or 'no table'}, chain {printable(chain)}, are not understood",
                "Leave them out if they neither drop nor rewrite",
            )
        name = f"{self._table}/{chain}"
        if name not in self._rules:
            line.fail(f"no chain {printable(chain)!r}", "Print all chains with: iptables-save")
        match = _Match([[one] for one in EVERYTHING])
        target = _read_match(line, words, match)
        rule = None if match.never else self._target(line, match, target)
        if rule is not None:
            self._rules[name].append(rule)

    def _target(self, line: Line, match: _Match, words: list[str]) -> Rule | None:
        boxes = tuple(tuple(box) for box in product(*match.ranges))
        if len(boxes) > MOST_BOXES:
            line.fail("a rule about too many ports and addresses", "Split it")
        if not words or words[0] == "LOG":
            return None
        verdict, chain = RETURN, ""
        sets: tuple[tuple[int, int], ...] = ()
        if words[0] in ("ACCEPT", "RETURN"):
            verdict = ACCEPT if words[0] == "ACCEPT" else RETURN
        elif words[0] in ("DROP", "REJECT"):
            if self._table == "nat":
                line.fail("nat does not drop", "Drop it in the table filter")
            verdict = DROP
        elif words[0] in ("DNAT", "SNAT", "MASQUERADE"):
            verdict, sets = REWRITE, _sets(line, words)
        elif len(words) == 1:
            verdict, chain = JUMP, f"{self._table}/{words[0]}"
            self._jumps.append((chain, line))
        else:
            line.fail(
                f"the target {printable(words[0])!r} is not understood", "Use ACCEPT, DROP, DNAT, SNAT or MASQUERADE"
            )
        return Rule(boxes, verdict, chain, sets, match.comes_by, match.leaves_by, line.source)


def _sets(line: Line, words: list[str]) -> tuple[tuple[int, int], ...]:
    if words[0] == "MASQUERADE":
        if len(words) > 1:
            line.fail("MASQUERADE with options is not understood", "Leave them out")
        return ((SRC, OWN_ADDRESS),)
    flag, address, port = ("--to-destination", DST, DPORT) if words[0] == "DNAT" else ("--to-source", SRC, SPORT)
    if len(words) != 3 or words[1] != flag:
        line.fail(f"{words[0]} needs {flag} ADDRESS[:PORT], and nothing else is understood", "Give one address")
    host, colon, number = words[2].partition(":")
    found = [(address, line.address(host))]
    return (*found, (port, line.number(number, 65535))) if colon else tuple(found)


def _read_match(line: Line, words: list[str], match: _Match) -> list[str]:
    """Reads what a rule asks for; what follows -j is left."""
    rest = list(words)
    while rest:
        is_not = rest[0] == "!"
        if is_not:
            rest.pop(0)
        flag = rest.pop(0) if rest else ""
        if flag in ("-j", "--jump"):
            return rest
        if flag == "--syn" and not is_not:  # first packets of connections are judged
            continue
        if flag not in _OPTIONS or not rest:
            line.fail(f"{printable(flag)!r} is not understood", "Leave the rule out if it decides nothing")
        _OPTIONS[flag](line, rest.pop(0), match, is_not)
    return []


def _restrict(match: _Match, place: int, ranges: list[Range], is_not: bool) -> None:
    wanted = sorted(ranges)
    if is_not:
        wanted = list(_complement(wanted, EVERYTHING[place]))
    known = match.ranges[place]
    both = [(max(a, c), min(b, d)) for a, b in known for c, d in wanted if max(a, c) <= min(b, d)]
    match.ranges[place] = both
    match.never = match.never or not both


def _complement(ranges: list[Range], whole: Range) -> Iterator[Range]:
    begin = whole[0]
    for first, last in ranges:
        if first > begin:
            yield begin, first - 1
        begin = max(begin, last + 1)
    if begin <= whole[1]:
        yield begin, whole[1]


def _addresses(place: int) -> Callable[[Line, str, _Match, bool], None]:
    def read(line: Line, text: str, match: _Match, is_not: bool) -> None:
        _restrict(match, place, [line.network(text)[0]], is_not)

    return read


def _ports(place: int) -> Callable[[Line, str, _Match, bool], None]:
    def read(line: Line, text: str, match: _Match, is_not: bool) -> None:
        found = []
        for piece in text.split(","):
            first, colon, last = piece.partition(":")
            begin = line.number(first or "0", 65535)
            end = line.number(last or "65535", 65535) if colon else begin
            if end < begin:
                line.fail(f"{printable(piece)!r} ends before it begins", "Write the smaller port first")
            found.append((begin, end))
        _restrict(match, place, _unite(found), is_not)

    return read


def _unite(ranges: list[Range]) -> list[Range]:
    found: list[Range] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def _protocol(line: Line, text: str, match: _Match, is_not: bool) -> None:
    if text in ("all", "0"):
        return
    number = PROTOCOLS[text] if text in PROTOCOLS else line.number(text, 255)
    _restrict(match, PROTO, [(number, number)], is_not)


def _interface(name: str) -> Callable[[Line, str, _Match, bool], None]:
    def read(line: Line, text: str, match: _Match, is_not: bool) -> None:
        if is_not:
            line.fail("an interface that is excluded is not understood", "Write a rule for the others")
        setattr(match, name, text)

    return read


def _states(line: Line, text: str, match: _Match, is_not: bool) -> None:
    """Connections: the first packet is judged, which is NEW."""
    if ("NEW" in text.split(",")) == is_not:
        match.never = True


def _module(line: Line, text: str, match: _Match, is_not: bool) -> None:
    if text not in ("tcp", "udp", "sctp", "multiport", "comment", "conntrack", "state"):
        line.fail(f"the module {printable(text)!r} is not understood", "Leave the rule out if it decides nothing")


def _nothing(line: Line, text: str, match: _Match, is_not: bool) -> None:
    """A remark."""


_OPTIONS: dict[str, Callable[[Line, str, _Match, bool], None]] = {
    "-s": _addresses(SRC), "--source": _addresses(SRC), "-d": _addresses(DST), "--destination": _addresses(DST),
    "-p": _protocol, "--protocol": _protocol, "-i": _interface("comes_by"), "--in-interface": _interface("comes_by"),
    "-o": _interface("leaves_by"), "--out-interface": _interface("leaves_by"),
    "--sport": _ports(SPORT), "--dport": _ports(DPORT), "--source-port": _ports(SPORT), "--sports": _ports(SPORT),
    "--destination-port": _ports(DPORT), "--dports": _ports(DPORT),
    "--ctstate": _states, "--state": _states, "-m": _module, "--match": _module, "--comment": _nothing,
}  # fmt: skip


# Sets of headers


def parse_headers(text: str) -> Box:
    """The box that `src 10.0.0.0/8, tcp, dport 80-90` stands for."""
    box = list(EVERYTHING)
    line = Line(text, Source("--match", 1))
    for piece in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = piece.partition(" ")
        try:
            if name in ("src", "dst"):
                box[SRC if name == "src" else DST] = line.network(value.strip())[0]
            elif name in ("sport", "dport"):
                first, _, last = value.strip().partition("-")
                begin = line.number(first, 65535)
                box[SPORT if name == "sport" else DPORT] = (begin, line.number(last, 65535) if last else begin)
            elif name in PROTOCOLS and not value:
                box[PROTO] = (PROTOCOLS[name],) * 2
            else:
                raise UsageError(
                    f"--match: {piece!r} is not understood", "Write 'src 10.0.0.0/8, dst 10.1.0.7, tcp, dport 80'."
                )
        except ManifestError as problem:
            raise UsageError(
                f"--match: {piece!r}: {problem.problem}", "Write 'dst 10.1.0.7, tcp, dport 80-90'."
            ) from None
    if any(first > last for first, last in box):
        raise UsageError(f"--match: {text!r} has a range that ends before it begins", "Write the smaller one first.")
    return tuple(box)
