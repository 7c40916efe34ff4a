"""`kubeproof admit`: a validating admission webhook that warns."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kubeproof.cli.options.inputs import allows_outside, outside_option, read_stdin
from kubeproof.cli.options.live import Chosen, cluster_file, cluster_options
from kubeproof.cli.options.ranges import NumberRange
from kubeproof.cli.running.endings import say
from kubeproof.errors import KubeproofError, UsageError

if TYPE_CHECKING:
    import ssl

    from kubeproof.live.admission import Judged
    from kubeproof.manifests.folders.files import InputFile
    from kubeproof.manifests.loaded import Loaded

SHARE = 0.8  # of the time to answer, for judging
_CLUSTER = ("namespace", "everywhere", "context", "kubeconfig", "read_timeout")


@click.command("admit", short_help="Warn of objects that may get stuck, as a validating admission webhook.")
@click.option("--on", "paths", multiple=True, metavar="PATH", help="What runs: manifests or a snapshot. Repeatable.")
@click.option("--live", is_flag=True, help="Read what runs from the cluster, with GET requests only.")
@cluster_options
@outside_option
@click.option("--listen", default="127.0.0.1:8443", show_default=True, metavar="HOST:PORT", help="Where to answer.")
@click.option("--tls-cert", metavar="FILE", help="Certificate of the server, with those that it rests on.")
@click.option("--tls-key", metavar="FILE", help="The key to it.")
@click.option("--plain", is_flag=True, help="HTTP without TLS, behind something that has it.")
@click.option(
    "--within", "within_s", type=NumberRange(0, min_open=True), default=3.0, show_default=True, metavar="S",
    help="Let an object in without a word that is not judged after so many seconds.",
)  # fmt: skip
@click.option(
    "--refresh", "refresh_s", type=NumberRange(0, min_open=True), default=300.0, show_default=True, metavar="S",
    help="Read again what runs after so many seconds.",
)  # fmt: skip
@click.option("--enforce", is_flag=True, help="Keep out what is proved to get stuck, instead of warning.")
@click.option("--for", "for_s", type=NumberRange(0, min_open=True), metavar="S", help="End after so many seconds.")
def admit_command(**given: Any) -> int:
    """Answer an API server that asks whether an object may be stored: yes, with warnings of what may get stuck.

    What is asked is `what-if apply` of the object to what runs. What is not known in time is let in without a word, and
    so is everything if this program is slow, busy or broken. With --enforce a counterexample keeps an object out.

    \b
    Examples:
      kubeproof admit --live -A --tls-cert tls.crt --tls-key tls.key --listen 0.0.0.0:8443
      kubeproof admit --on snap.yaml --plain --listen 127.0.0.1:8080

    \b
    Exit codes: 0 ended, 2 wrong usage, 4 input refused, 6 environment, 130 interrupted.
    """
    from kubeproof.live.admission import Desk, serve_reviews

    host, port = _address(given["listen"])
    tls = _tls(given)
    if not given["paths"] and not given["live"]:
        raise click.UsageError("name what runs: --live, or --on PATH")
    running = _Running(given)
    desk = Desk(partial(_judge, running, given), within_s=given["within_s"])
    end = threading.Event()
    with serve_reviews(desk, host, port, tls) as chosen:
        say(f"answers reviews on {host}:{chosen}/validate, figures on /metrics; Ctrl-C ends it")
        refreshing = threading.Thread(target=running.keep_current, args=(given["refresh_s"], end), daemon=True)
        refreshing.start()
        try:
            _wait(given["for_s"])
        finally:
            end.set()
    return 0


def _wait(for_s: float | None) -> None:
    """Until somebody asks to end, or the time is over."""
    threading.Event().wait(for_s)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"--listen {text!r} is no address", "Write HOST:PORT.")
    return host.strip("[]") or "127.0.0.1", int(port)


def _tls(given: dict[str, Any]) -> ssl.SSLContext | None:
    certificate, key = given["tls_cert"], given["tls_key"]
    if given["plain"]:
        if certificate or key:
            raise UsageError("--plain is without TLS", "Leave out --tls-cert and --tls-key.")
        return None
    if not (certificate and key):
        raise UsageError("API servers ask over TLS alone", "Name --tls-cert and --tls-key, or --plain behind a proxy.")
    from kubeproof.live.admission import tls_of

    return tls_of(certificate, key)


class _Running:
    """What runs, as it was read last."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given
        self.loaded = self._read()

    def _read(self) -> Loaded:
        given = self._given
        chosen = Chosen(*(given[name] for name in _CLUSTER)) if given["live"] else None
        return _load(given["paths"], () if chosen is None else (cluster_file(chosen),))

    def keep_current(self, every_s: float, end: threading.Event) -> None:
        """Reads it again and again; what cannot be read now is as it was."""
        while not end.wait(every_s):
            try:
                self.loaded = self._read()
            except KubeproofError as problem:
                say(f"what runs could not be read again, and is taken to be as it was: {problem}")


def _load(paths: tuple[str, ...], more: tuple[InputFile, ...]) -> Loaded:
    from kubeproof.manifests.load import load

    return load(
        paths, stdin=read_stdin, more=more, render=None, allow_outside=allows_outside_here(), is_tolerant=True,
        is_for_checks=False,
    )  # fmt: skip


def allows_outside_here() -> bool:
    """True if files outside the paths may be read; threads that judge have no command line."""
    return click.get_current_context(silent=True) is not None and allows_outside()


def _judge(running: _Running, given: dict[str, Any], item: dict[str, Any]) -> Judged:
    """What is said of an object."""
    import json

    from kubeproof.live.admission import Judged
    from kubeproof.manifests.folders.files import InputFile
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.what_if.admission import judge_object, list_warnings

    new = _load((), (InputFile(None, "<review>", json.dumps(item).encode()),))
    options = VerifyOptions(timeout_s=SHARE * given["within_s"])
    name = f"{item.get('kind', 'object')} {(item.get('metadata') or {}).get('name', '')}".strip()
    warnings = tuple(list_warnings(judge_object(running.loaded, new, name, options)))
    if given["enforce"] and warnings:
        return Judged((), warnings[0])
    return Judged(warnings)
