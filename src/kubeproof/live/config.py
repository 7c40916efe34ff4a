"""Which cluster, and as whom: kubeconfig files as kubectl reads them, or the account of the pod that runs us."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from typing import Any

from kubeproof.errors import ClusterError, KubeproofError
from kubeproof.live.credentials import Credentials, credentials_of
from kubeproof.manifests.folders.files import read_file
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.tree import plain
from kubeproof.values import dataclass

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_REMEDY = "Name a usable one with --kubeconfig FILE or KUBECONFIG, and check it with: kubectl config view"


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything that a request needs."""

    server: str
    name: str  # of the context, for messages
    namespace: str = "default"
    authority: bytes | None = None  # PEM; None: what the system trusts
    is_unverified: bool = False
    tls_name: str = ""
    proxy: str = ""
    credentials: Credentials = Credentials()


def connection(
    *, kubeconfig: str | None = None, context: str | None = None, environment: Mapping[str, str] = os.environ
) -> Connection:
    """The cluster that kubectl would talk to."""
    files = _files(kubeconfig, environment)
    if not files and context is None and environment.get("KUBERNETES_SERVICE_HOST"):
        return _inside(environment)
    if not files:
        raise ClusterError("no kubeconfig", "Log in to a cluster, or name a file with --kubeconfig FILE or KUBECONFIG")
    merged = _Merged([(path, _document(path)) for path in files])
    return merged.connection(context, environment)


def _files(given: str | None, environment: Mapping[str, str]) -> list[str]:
    if given is not None:
        return [given]
    listed = [path for path in environment.get("KUBECONFIG", "").split(os.pathsep) if path]
    candidates = listed or [os.path.join(os.path.expanduser("~"), ".kube", "config")]
    return [path for path in candidates if os.path.exists(path)]


def _document(path: str) -> dict[str, Any]:
    bounds = Bounds()
    shown = printable(path)
    try:
        documents = list(read_documents(read_file(path, bounds), file=shown, budget=Budget(bounds)))
    except KubeproofError as problem:
        raise ClusterError(f"the kubeconfig cannot be used: {problem}", _REMEDY) from None
    value = plain(documents[0]) if documents else {}
    if not isinstance(value, dict):
        raise ClusterError(f"{shown} is no kubeconfig", _REMEDY)
    return value


class _Merged:
    """Several kubeconfig files as one: of everything the first one that says it counts."""

    def __init__(self, documents: list[tuple[str, dict[str, Any]]]) -> None:
        self._documents = documents

    def connection(self, context: str | None, environment: Mapping[str, str]) -> Connection:
        """The cluster and the user of a context, the current one unless named."""
        chosen = context or next(
            (str(d["current-context"]) for _, d in self._documents if d.get("current-context")), ""
        )
        if not chosen:
            raise ClusterError("the kubeconfig has no current context", "Choose one with --context NAME")
        _, about = self._find_named("contexts", "context", chosen)
        where, cluster = self._find_named("clusters", "cluster", str(about.get("cluster", "")))
        who, user = self._find_named("users", "user", str(about["user"])) if about.get("user") else (where, {})
        server = str(cluster.get("server", ""))
        if not server.startswith(("https://", "http://")):
            raise ClusterError(f"cluster of context {printable(chosen)} has no usable server", _REMEDY)
        return Connection(
            server=server.rstrip("/"),
            name=chosen,
            namespace=str(about.get("namespace") or "default"),
            authority=content(cluster, "certificate-authority", where),
            is_unverified=cluster.get("insecure-skip-tls-verify") is True,
            tls_name=str(cluster.get("tls-server-name") or ""),
            proxy=str(cluster.get("proxy-url") or ""),
            credentials=credentials_of(user, who, environment, content),
        )

    def _find_named(self, section: str, key: str, name: str) -> tuple[str, dict[str, Any]]:
        for path, document in self._documents:
            for entry in document.get(section) or ():
                if isinstance(entry, dict) and entry.get("name") == name:
                    found = entry.get(key)
                    return path, found if isinstance(found, dict) else {}
        known = sorted(
            str(entry.get("name"))
            for _, document in self._documents
            for entry in document.get(section) or ()
            if isinstance(entry, dict)
        )
        there = ", ".join(printable(one) for one in known[:20]) or "none"
        raise ClusterError(f"the kubeconfig has no {key} {printable(name)!r}", f"There are: {there}")


def content(section: dict[str, Any], key: str, beside: str) -> bytes | None:
    """What `KEY-data` holds, or the file that `KEY` names, relative to the kubeconfig."""
    data, path = section.get(f"{key}-data"), section.get(key)
    if data:
        try:
            return base64.b64decode(str(data), validate=True)
        except (binascii.Error, ValueError):
            raise ClusterError(f"{key}-data of the kubeconfig is not base64", _REMEDY) from None
    if not path:
        return None
    return read_secretly(os.path.join(os.path.dirname(beside), str(path)))


def read_secretly(path: str) -> bytes:
    """The content of a file with a certificate, key or token; the message never holds any of it."""
    try:
        with open(path, "rb") as file:
            return file.read(2**20)
    except OSError as problem:
        raise ClusterError(f"{printable(path)} cannot be read: {problem.strerror}", _REMEDY) from None


def _inside(environment: Mapping[str, str]) -> Connection:
    """The cluster that we run in, as the pod's own account."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    shown = f"[{host}]" if ":" in host else host
    space = read_secretly(f"{ACCOUNT}/namespace").decode("utf-8", "replace").strip()
    return Connection(
        server=f"https://{shown}:{port}",
        name="in-cluster",
        namespace=space or "default",
        authority=read_secretly(f"{ACCOUNT}/ca.crt"),
        credentials=Credentials(token_file=f"{ACCOUNT}/token"),
    )
