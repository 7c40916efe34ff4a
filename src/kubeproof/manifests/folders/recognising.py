"""Tells manifests from whatever else lies in a directory: values, dashboards, templates, settings of other tools.

Nothing that a cluster would take is hidden: an object has an apiVersion and a kind, and a file that lacks either word
holds none. What looks like an object and cannot be read is left to the readers, who say what is wrong with it.
"""

from __future__ import annotations

import re

from kubeproof.manifests.yaml.tree import Mapping, Scalar, Value

NO_OBJECT = "no object of Kubernetes: it has no apiVersion and kind"
NOT_YAML = "no object of Kubernetes, and not YAML that can be read"
TEMPLATE = "a template with {{ … }}, which has to be rendered first"
BLANKS = "a template with ${ … }, which has to be filled in first"
UNPATCHED = "a part of a kustomization that cannot be rendered, and no object without it"
UNRENDERED = (TEMPLATE, BLANKS, UNPATCHED)  # what may hold objects of any kind
OTHER_TOOL = "settings of another tool, which no cluster stores"
_WORDS = (b"apiVersion", b"kind")
_KEYS = tuple(re.compile(rb"(?m)(?:^|[\s{,\"'])%s[\"']?\s*:" % word) for word in _WORDS)
_ESCAPE = re.compile(rb"\\[ux]")  # with which the words can be written in other letters
OPENING = "{{"
_OF_BLANKS = re.compile(r"\$\{\w|\$\(\w")
_GROUPS_OF_TOOLS = frozenset(
    {
        "apiserver.config.k8s.io",
        "apiserver.k8s.io",
        "audit.k8s.io",
        "client.authentication.k8s.io",
        "config.kubernetes.io",
        "credentialprovider.kubelet.k8s.io",
        "ctlptl.dev",
        "eksctl.io",
        "k3d.io",
        "kind.x-k8s.io",
        "kubeadm.k8s.io",
        "kubelet.config.k8s.io",
        "kubeproxy.config.k8s.io",
        "kustomize.config.k8s.io",
        "minikube.sigs.k8s.io",
        "proxy.config.k8s.io",
        "skaffold",
    }
)
_KUBECONFIG = ("v1", "Config")
_OLD_SCHEDULERS = tuple(f"kubescheduler.config.k8s.io/{version}" for version in ("v1alpha1", "v1beta1", "v1beta2"))


def lacks_objects(content: bytes) -> bool:
    """True if the file can hold no object, whatever else it holds."""
    return not all(word in content for word in _WORDS) and _ESCAPE.search(content) is None


def why_unparsed(content: bytes) -> str:
    """Why a file that is no readable YAML is no manifest; empty if it may be meant as one."""
    if OPENING.encode() in content:
        return TEMPLATE
    return "" if all(key.search(content) for key in _KEYS) else NOT_YAML


def why_no_object(root: Value) -> str:
    """Why a document is no object; empty if it is one, or may be meant as one."""
    if not isinstance(root, Mapping):
        return NO_OBJECT
    version, kind = root.get("apiVersion"), root.get("kind")
    if version is not None and kind is not None:
        return OTHER_TOOL if _is_of_tool(version, kind) else ""
    is_meant = (version is not None or kind is not None) and isinstance(root.get("metadata"), Mapping)
    return "" if is_meant else NO_OBJECT


def why_template(problem: str) -> str:
    """Why an object that is refused is a template, by what is wrong with it; empty if it is none."""
    if OPENING in problem:
        return TEMPLATE
    return BLANKS if _OF_BLANKS.search(problem) else ""


def _is_of_tool(version: Value, kind: Value) -> bool:
    if not isinstance(version, Scalar) or not isinstance(kind, Scalar):
        return False
    is_old = version.text in _OLD_SCHEDULERS
    return is_old or version.text.partition("/")[0] in _GROUPS_OF_TOOLS or (version.text, kind.text) == _KUBECONFIG
