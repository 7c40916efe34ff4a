"""What every function of the API takes for its input: paths, or what was loaded of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from kubeproof.manifests.assumed.node_pools import parse_pool
from kubeproof.manifests.folders.files import Named
from kubeproof.manifests.late import render_recipe
from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded

Paths = Named | Loaded
Nodes = str | Sequence[str]  # "6x4cpu,16Gi,zones=3", as --nodes


def take_input(paths: Paths, *, values: Sequence[str] = (), nodes: Nodes = ()) -> Loaded:
    """The input: charts are rendered with the files of values, nodes are those told if the manifests have none."""
    if isinstance(paths, Loaded):
        return paths
    texts = (nodes,) if isinstance(nodes, str) else nodes
    pools = tuple(parse_pool(text) for text in texts)
    return load(paths, render=partial(render_recipe, values=[os.fspath(file) for file in values]), pools=pools)
