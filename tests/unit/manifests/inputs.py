"""Short manifests for the tests of this room."""

from __future__ import annotations

import textwrap

from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded


def node(name: str = "n1", *, extra: str = "") -> str:
    """A node of 4 CPUs; `extra` is appended at the top level."""
    text = f"""\
    apiVersion: v1
    kind: Node
    metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}
    status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "110"}}}}
    """
    return textwrap.dedent(text) + textwrap.dedent(extra)


def deployment(name: str = "web", *, spec: str = "", pod: str = "", container: str = "") -> str:
    """A Deployment in namespace shop; the arguments are flow entries such as `replicas: 3,`."""
    return (
        "apiVersion: apps/v1\n"
        "kind: Deployment\n"
        f"metadata: {{name: {name}, namespace: shop}}\n"
        f"spec: {{{spec} selector: {{matchLabels: {{app: {name}}}}},\n"
        f"  template: {{metadata: {{labels: {{app: {name}}}}},\n"
        f"    spec: {{{pod} containers: [{{{container} name: main, image: example/app}}]}}}}}}\n"
    )


def scenario(spec: str) -> str:
    """A Scenario whose spec is the given block of YAML."""
    head = "apiVersion: kubeproof.dev/v1alpha1\nkind: Scenario\nmetadata: {name: test}\nspec:\n"
    return head + textwrap.indent(textwrap.dedent(spec), "  ")


def load_text(*documents: str) -> Loaded:
    """What standard input with these documents gives."""
    content = "\n---\n".join(document.rstrip("\n") for document in documents).encode()
    return load(["-"], stdin=lambda: content)
