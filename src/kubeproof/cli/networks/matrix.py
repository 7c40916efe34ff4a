"""`kubeproof network matrix`."""

from __future__ import annotations

import click

from kubeproof.cli.options.inputs import read_stdin
from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.running.endings import INTERRUPTED
from kubeproof.cli.running.interruption import current


@click.command("matrix", short_help="Show who may talk to whom according to manifests, and what changed.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--base", metavar="PATH", multiple=True, help="Manifests to compare with: tells which pairs changed since."
)
@click.option("--namespace", metavar="NAME", multiple=True, help="Only pods of this namespace, and the world.")
@click.option("--pod-cidr", metavar="CIDR", multiple=True, help="Addresses of pods, for rules with ipBlock.")
@output_option("text", "json", "html")
def matrix_command(
    *, paths: tuple[str, ...], base: tuple[str, ...], namespace: tuple[str, ...], pod_cidr: tuple[str, ...],
    outputs: tuple[Output, ...],
) -> int:  # fmt: skip
    """Show for every two workloads, and the world outside, which ports one may open to the other directly.

    \b
    Examples:
      kubeproof network matrix k8s/
      kubeproof network matrix k8s/ --base old/ -o html=changes.html
      kubeproof network matrix k8s/ --namespace shop -o json

    \b
    Exit codes: 0 told, 2 wrong usage, 4 input refused, 5 no pods.
    """
    from dataclasses import replace

    from kubeproof.network.kubernetes.matrix import compare, make_matrix
    from kubeproof.network.kubernetes.questions import parse_block
    from kubeproof.network.kubernetes.reader import load_kube_network
    from kubeproof.report.networks.matrix import matrix_json, matrix_page, matrix_text

    ranges = tuple(parse_block(text) for text in pod_cidr)
    network = load_kube_network(paths, stdin=read_stdin)
    before = load_kube_network(base, stdin=read_stdin) if base else None
    with current().gently() as stop:
        matrix = make_matrix(network, ranges, namespace, stop)
        if before is not None:
            old = make_matrix(before, ranges, (), stop)
            wanted = {name for name, space in zip(old.names, old.namespaces, strict=True) if space in (*namespace, "")}
            kept = {pair: cell for pair, cell in old.cells.items() if not namespace or wanted >= set(pair)}
            matrix = replace(matrix, changes=compare(replace(old, cells=kept), matrix))
    render = {"json": matrix_json, "text": matrix_text, "html": matrix_page}
    return emit(
        outputs, lambda output: render[output.format](matrix), INTERRUPTED if matrix.is_interrupted else 0, verdict=""
    )
