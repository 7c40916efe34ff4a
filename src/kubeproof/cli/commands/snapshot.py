"""`kubeproof snapshot`."""

from __future__ import annotations

import sys

import click

from kubeproof.cli.options.live import Chosen, cluster_options
from kubeproof.cli.options.outputs import write_stdout


@click.command("snapshot", short_help="Write a running cluster as manifests, read-only.")
@cluster_options
@click.option(
    "--anonymize", is_flag=True, help="Rename everything that tells whose cluster it is; verdicts stay the same."
)
@click.option(
    "--page-size", type=click.IntRange(1, 10_000), default=500, show_default=True, help="Objects per request."
)
@click.option("--rbac", is_flag=True, help="Print the smallest role that this needs, and ask no cluster.")
def snapshot_command(
    *,
    namespace: str | None,
    everywhere: bool,
    context: str | None,
    kubeconfig: str | None,
    read_timeout: float,
    anonymize: bool,
    page_size: int,
    rbac: bool,
) -> int:
    """Write a running cluster as manifests that "kubeproof verify" reads.

    Only kinds that are modelled are read, never Secrets or ConfigMaps; environments and command lines of containers
    are left out. Requests are GET requests. A run of verify then begins with the pods as they are.

    \b
    Examples:
      kubeproof snapshot -A > snap.yaml
      kubeproof snapshot -n shop --anonymize > snap.yaml
      kubeproof snapshot --rbac -A | kubectl apply -f -
      kubeproof verify snap.yaml scenario.yaml

    \b
    Exit codes: 0 written, 2 wrong usage, 6 the cluster cannot be reached
    or does not let us read.
    """
    from kubeproof.live.keep import READERS
    from kubeproof.live.snapshot import SnapshotOptions, take_snapshot
    from kubeproof.network.kubernetes.reader import read_alone

    if rbac:
        from kubeproof.live.rbac import manifests

        write_stdout(manifests(namespace))
        return 0
    client, space = Chosen(namespace, everywhere, context, kubeconfig, read_timeout).reach()
    options = SnapshotOptions(space, anonymize, page_size, (*READERS, read_alone))
    counts = take_snapshot(client, options, _write_bytes)
    click.echo(f"{sum(counts.values()):,} objects of {sum(map(bool, counts.values()))} kinds", err=True)
    return 0


def _write_bytes(chunk: bytes) -> None:
    """Bytes as they are, whatever the terminal's encoding."""
    sys.stdout.flush()
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None:
        sys.stdout.write(chunk.decode())
    else:
        raw.write(chunk)
