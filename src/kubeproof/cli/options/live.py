"""The options that say which cluster, shared by all commands that read one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from kubeproof.named_tuples import NamedTuple

if TYPE_CHECKING:
    from kubeproof.live.client import Client
    from kubeproof.manifests.folders.files import InputFile

F = TypeVar("F", bound=Callable[..., object])


class Chosen(NamedTuple):
    """A cluster, and which part of it."""

    namespace: str | None
    everywhere: bool
    context: str | None
    kubeconfig: str | None
    read_timeout: float

    def words(self) -> list[str]:
        """The options that ask for the same cluster again."""
        named = (("-n", self.namespace), ("--context", self.context), ("--kubeconfig", self.kubeconfig))
        given = [word for flag, value in named if value is not None for word in (flag, value)]
        return ["--live", *(["-A"] if self.everywhere else []), *given]

    def reach(self) -> tuple[Client, str | None]:
        """The client, and the namespace that is meant; None for all."""
        from kubeproof.live.client import Client
        from kubeproof.live.config import connection

        if self.namespace is not None and self.everywhere:
            raise click.UsageError("-n and -A exclude each other")
        where = connection(kubeconfig=self.kubeconfig, context=self.context)
        return Client(where, read_s=self.read_timeout), None if self.everywhere else self.namespace or where.namespace


def cluster_options(command: F) -> F:
    """Adds -n, -A, --context and --kubeconfig."""
    for option in reversed(
        (
            click.option(
                "-n", "--namespace", metavar="NS", help="Read this namespace of the cluster; default: the context's."
            ),
            click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Read all namespaces."),
            click.option("--context", metavar="NAME", help="Context of the kubeconfig; default: the current one."),
            click.option("--kubeconfig", metavar="FILE", help="Instead of KUBECONFIG and ~/.kube/config."),
            click.option(
                "--read-timeout",
                metavar="S",
                type=click.FloatRange(0, min_open=True),
                default=600.0,
                show_default=True,
                help="Give up when the cluster is not read after so many seconds.",
            ),
        )
    ):
        command = option(command)
    return command


def cluster_file(chosen: Chosen) -> InputFile:
    """The cluster for who reads it here and now; as text it would take twice as long."""
    import json

    from kubeproof.live.snapshot import SnapshotOptions, read_cluster
    from kubeproof.manifests.folders.files import InputFile
    from kubeproof.manifests.yaml.tree import tree_of

    client, namespace = chosen.reach()
    objects = read_cluster(client, SnapshotOptions(namespace))
    shown = "<live>" if namespace is None else f"<live -n {namespace}>"
    return InputFile(None, shown, json.dumps(objects).encode(), roots=tuple(map(tree_of, objects)))


def snapshot_bytes(chosen: Chosen) -> tuple[str, bytes]:
    """The cluster as manifests, with a name to show for them."""
    from kubeproof.live.snapshot import SnapshotOptions, take_snapshot

    client, namespace = chosen.reach()
    parts: list[bytes] = []
    take_snapshot(client, SnapshotOptions(namespace), parts.append)
    return "<live>" if namespace is None else f"<live -n {namespace}>", b"".join(parts)
