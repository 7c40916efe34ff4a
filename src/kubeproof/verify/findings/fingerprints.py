"""Fingerprints of results: the same finding has the same one, wherever its lines move."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from kubeproof.verify.result import IntentResult, VerifyResult

VERSION = 1  # part of every fingerprint; a change of what goes in is a new version
LENGTH = 32  # hexadecimal digits
_NUMBER = re.compile(r"[0-9]+", re.ASCII)


def fingerprints(result: VerifyResult) -> tuple[str, ...]:
    """One for each result, in order.

    Made of the property, the intent's name and target, and the Scenario's name: never of lines, files, sizes or the
    counterexample, which change with every edit. Several violations of one intent (`find_all`) are told apart by who
    acts at their end, and where even that is the same by their order.
    """
    names = Counter((one.id, one.intent, one.target, one.faults) for one in result.results)
    seen: Counter[str] = Counter()
    found = []
    for one in result.results:
        is_one_of_many = names[one.id, one.intent, one.target, one.faults] > 1
        text = _text(result.scenario, one, _actors(one) if is_one_of_many else "")
        seen[text] += 1
        found.append(_digest(text if seen[text] == 1 else f"{text}\0{seen[text]}"))
    return tuple(found)


def check_fingerprints(result: VerifyResult) -> tuple[str, ...]:
    """One for each finding of checks, in order: made of the check, its object and its words, but for numbers."""
    seen: Counter[str] = Counter()
    found = []
    for one in result.checks:
        text = "\0".join((str(VERSION), result.scenario, one.id, one.target, _NUMBER.sub("#", one.message)))
        seen[text] += 1
        found.append(_digest(text if seen[text] == 1 else f"{text}\0{seen[text]}"))
    return tuple(found)


def _text(scenario: str, one: IntentResult, actors: str) -> str:
    return "\0".join((str(VERSION), scenario, one.id, one.intent, one.target, actors, *one.faults))


def _actors(one: IntentResult) -> str:
    """Who acts in the loop, or last."""
    if one.trace is None or not one.trace.steps:
        return ""
    steps = one.trace.steps[-1:] if one.trace.loop_start is None else one.trace.steps[one.trace.loop_start :]
    return ",".join(sorted({step.actor for step in steps}))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:LENGTH]
