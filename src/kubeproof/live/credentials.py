"""Who asks: tokens, client certificates, and the helper programs of cloud providers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from kubeproof.errors import ClusterError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.values import dataclass

Content = Callable[[dict[str, Any], str, str], "bytes | None"]
PATIENCE_S = 60
_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What is shown to the API server; never printed."""

    token: str = field(default="", repr=False)
    token_file: str = ""  # read again for every request: tokens of pods are renewed
    certificate: bytes | None = field(default=None, repr=False)
    key: bytes | None = field(default=None, repr=False)
    basic: tuple[str, str] | None = field(default=None, repr=False)

    @property
    def are_some(self) -> bool:
        return bool(self.token or self.token_file or self.certificate or self.basic)


def credentials_of(user: dict[str, Any], beside: str, environment: Mapping[str, str], content: Content) -> Credentials:
    """The credentials of a user of a kubeconfig; a helper program is run as kubectl would run it."""
    if "auth-provider" in user:
        remedy = "Let your provider write a kubeconfig with an exec plugin, as kubectl since 1.26 needs, too"
        raise ClusterError("auth-provider of the kubeconfig is no longer supported", remedy)
    token_file = str(user.get("tokenFile") or "")
    found = Credentials(
        token=str(user.get("token") or ""),
        token_file=os.path.join(os.path.dirname(beside), token_file) if token_file else "",
        certificate=content(user, "client-certificate", beside),
        key=content(user, "client-key", beside),
        basic=(str(user["username"]), str(user.get("password") or "")) if user.get("username") else None,
    )
    plugin = user.get("exec")
    if isinstance(plugin, dict) and not found.are_some:
        return _from_program(plugin, beside, environment, found)
    return found


def _from_program(
    plugin: dict[str, Any], beside: str, environment: Mapping[str, str], found: Credentials
) -> Credentials:
    """What the program that the user's kubeconfig names prints: an ExecCredential."""
    command = str(plugin.get("command") or "")
    version = str(plugin.get("apiVersion") or "")
    if version not in _VERSIONS or not command:
        raise ClusterError("the exec plugin of the kubeconfig cannot be used", f"It needs a command and {_VERSIONS[0]}")
    if os.sep in command:
        command = os.path.join(os.path.dirname(beside), command)
    elif shutil.which(command) is None:
        hint = printable(str(plugin.get("installHint") or "Install it, as kubectl needs it, too"))
        raise ClusterError(f"the program {printable(command)!r} of the kubeconfig is not installed", hint)
    status = _status(_run([command, *(str(word) for word in plugin.get("args") or ())], plugin, version, environment))
    certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
    return replace(
        found,
        token=str(status.get("token") or ""),
        certificate=str(certificate).encode() if certificate else None,
        key=str(key).encode() if key else None,
    )


def _run(words: list[str], plugin: dict[str, Any], version: str, environment: Mapping[str, str]) -> bytes:
    request = {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}
    own = {str(one.get("name")): str(one.get("value")) for one in plugin.get("env") or () if isinstance(one, dict)}
    known = {**environment, **own, "KUBERNETES_EXEC_INFO": json.dumps(request)}
    remedy = "Log in first; kubectl get nodes must work"
    try:
        ended = subprocess.run(
            words, env=known, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise ClusterError(f"{printable(words[0])!r} gave no credentials for {PATIENCE_S} s", remedy) from None
    except OSError as problem:
        raise ClusterError(f"{printable(words[0])!r} cannot be run: {problem.strerror}", remedy) from None
    if ended.returncode:
        raise ClusterError(f"{printable(words[0])!r} gave no credentials: exit code {ended.returncode}", remedy)
    return ended.stdout


def _status(printed: bytes) -> dict[str, Any]:
    try:
        status = json.loads(printed)["status"]
    except (ValueError, KeyError, TypeError, RecursionError):
        status = None
    if not isinstance(status, dict):
        raise ClusterError("the exec plugin of the kubeconfig printed no credentials", "Check its version")
    return status
