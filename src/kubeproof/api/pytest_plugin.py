"""Manifests as tests of pytest: each path that `--kubeproof` or the setting `kubeproof` names is one, and must hold.

pytest loads this module by itself, so it imports nothing of Kubeproof until such a path is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kubeproof.api.verification import Verification

_SETTINGS = {
    "kubeproof": ("linelist", "files and folders of manifests that must hold"),
    "kubeproof_faults": ("args", "without a Scenario: only these faults"),
    "kubeproof_nodes": ("args", "nodes for manifests without any, such as 6x4cpu,16Gi,zones=3"),
    "kubeproof_timeout": ("string", "seconds for each of them"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option and the settings."""
    group = parser.getgroup("kubeproof", "proofs about Kubernetes manifests")
    group.addoption("--kubeproof", action="append", default=[], metavar="PATH", help=_SETTINGS["kubeproof"][1])
    for name, (kind, about) in _SETTINGS.items():
        parser.addini(name, about, type=kind, default="60" if kind == "string" else [])  # type: ignore[arg-type]


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds a test for each path, after those that are written in Python."""
    named = [Path(path) for path in config.getoption("--kubeproof")]
    configured = [config.rootpath / path for path in config.getini("kubeproof")]
    for path in dict.fromkeys([*named, *configured]):
        named_as = f"{path}::kubeproof"
        items.append(ManifestItem.from_parent(session, name=named_as, nodeid=named_as, manifests=path))


class ManifestItem(pytest.Item):
    """Verifies one path; fails like `kubeproof.assert_holds`."""

    def __init__(self, *, manifests: Path, **named: Any) -> None:
        super().__init__(**named)
        self.manifests = manifests

    def runtest(self) -> None:
        """Raises unless everything holds."""
        self.verify().assert_holds()

    def verify(self) -> Verification:
        """The verification with the settings of this project; those of the matrix count where it is one."""
        from kubeproof.api.inputs import take_input
        from kubeproof.api.matrix import matrix
        from kubeproof.api.verification import verify
        from kubeproof.verify.matrix import asks_for_matrix
        from kubeproof.verify.options import VerifyOptions

        timeout_s = float(self.config.getini("kubeproof_timeout"))
        loaded = take_input(self.manifests, nodes=tuple(self.config.getini("kubeproof_nodes")))
        if asks_for_matrix(loaded, VerifyOptions()):
            return matrix(loaded, faults=tuple(self.config.getini("kubeproof_faults")), timeout_s=timeout_s)
        return verify(loaded, VerifyOptions(timeout_s=timeout_s))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """The counterexample; of input that cannot be verified the reason."""
        from kubeproof.errors import KubeproofError

        if excinfo.errisinstance((AssertionError, KubeproofError)):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it is, and what it is called."""
        return self.manifests, None, "kubeproof"


def pytest_report_header(config: pytest.Config) -> Iterator[str]:
    """Says what is verified beside the tests."""
    paths = [*config.getoption("--kubeproof"), *config.getini("kubeproof")]
    if paths:
        yield f"kubeproof: {', '.join(map(str, paths))}"
