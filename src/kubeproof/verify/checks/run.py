"""Runs the checks that need no search."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.checks.catalogue import TOPICS, checks_of
from kubeproof.verify.checks.declaration import INFO, SEVERITIES, Check, Found
from kubeproof.verify.checks.scene import Scene
from kubeproof.verify.findings.failures import failure_of
from kubeproof.verify.result import CheckFinding

_AS_WRITTEN = ("K001", "K002")  # about what a file says, whatever is added to it


def run_checks(loaded: Loaded) -> tuple[CheckFinding, ...]:
    """What the checks find, worst first, then in the order of the input; takes milliseconds."""
    checks = [check for topic in TOPICS if topic.concerns(loaded) for check in checks_of(topic)]
    scene = Scene(loaded)
    every = (finding for check in checks for finding in _findings(check, scene))
    found = dict.fromkeys(one for one in every if _is_certain(loaded, one))
    files = {file: number for number, file in enumerate(loaded.files)}

    def order(one: CheckFinding) -> tuple[int, int, str, int, str, str]:
        place = one.source
        return SEVERITIES.index(one.severity), files.get(place.file, -1), place.file, place.line, one.id, one.target

    return tuple(sorted(found, key=order))


def _is_certain(loaded: Loaded, one: CheckFinding) -> bool:
    """False for an object of a kustomization that could not be rendered: patches may give what it lacks."""
    return one.source.file not in loaded.unpatched or one.id in _AS_WRITTEN or not one.id.startswith("K")


def _findings(check: Check, scene: Scene) -> Iterator[CheckFinding]:
    """What one check finds; a fault of ours in it is told, and hides nothing that others find."""
    try:
        yield from (_finding(check, found) for found in tuple(check.find(scene)))
    except Exception as problem:
        source = scene.loaded.scenario.source
        yield _finding(check, Found("", f"not checked: {failure_of(problem).reason}", source, severity=INFO))


def _finding(check: Check, found: Found) -> CheckFinding:
    return CheckFinding(
        id=check.id,
        key=check.key,
        severity=found.severity or check.severity,
        target=found.target,
        message=found.message,
        remedy=found.remedy or check.remedy,
        source=found.source,
        also=found.also,
    )
