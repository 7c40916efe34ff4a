"""`kubeproof doctor`."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.running.terminal import is_terminal, shows_unicode, wants_colour
from kubeproof.named_tuples import NamedTuple

NEEDED_FOR = {
    "quantify": "quantify needs it",
    "distributed": "--executor dask:// needs it",
    "simulate": "requests cannot be simulated",
    "fix": "manifests are not changed in place",
    "mcp": "nothing is served to assistants",
    "rabbitmq": "monitor reads no amqp:// queue",
    "redis": "the work of monitor is not shared",
}
PACKAGES = {"ruamel.yaml": "fix", "mcp": "mcp", "pika": "rabbitmq", "redis": "redis"}  # by the extra that brings them


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str
    remedy: str = ""


@click.command("doctor", short_help="Tell what this installation can do.")
@output_option("text", "json")
def doctor_command(*, outputs: tuple[Output, ...]) -> int:
    """Tell what this installation can do, and how to get what is missing.

    \b
    Examples:
      kubeproof doctor
      kubeproof doctor -o json
    """
    findings = examine()
    return emit(outputs, lambda output: _as_json(findings) if output.format == "json" else _as_text(findings))


def examine() -> tuple[Finding, ...]:
    """Everything worth knowing about this installation."""
    import platform

    from kubeproof import __version__

    python = f"{platform.python_implementation()} {platform.python_version()}"
    return (
        Finding("kubeproof", True, __version__),
        Finding("python", sys.version_info >= (3, 11), python, "Kubeproof needs Python 3.11 or newer."),
        find_compiled_engine(),
        _libyaml(),
        package("storm", "stormpy", "quantify"),
        package("numpy", "numpy", "simulate"),
        request_kernel(),
        package("dask", "distributed", "distributed"),
        *(package(name, name, extra) for name, extra in PACKAGES.items()),
        program("helm", "charts are not rendered", ("helm",)),
        program("kustomize", "kustomizations are not rendered", ("kustomize", "kubectl")),
        program("git", "diff does not read revisions", ("git",)),
        settings(),
        Finding("terminal", True, _terminal()),
    )


def find_compiled_engine(module: str = "kubeproof.engine._kernel") -> Finding:
    """Whether the compiled engine can be used, and if not why."""
    try:
        import_module(module)
    except ModuleNotFoundError:
        return Finding(
            "compiled engine", False, "not built; the pure-Python engine is used",
            "Install a C compiler and the Python headers (Debian: apt install gcc python3-dev), make sure "
            "KUBEPROOF_NO_EXTENSION is not set, and install kubeproof again from source.",
        )  # fmt: skip
    except Exception as problem:
        reason = " ".join(str(problem).split()) or type(problem).__name__
        return Finding(
            "compiled engine", False, f"cannot be loaded: {reason}; the pure-Python engine is used",
            "It was built for another Python or system: install kubeproof again.",
        )  # fmt: skip
    return Finding("compiled engine", True, "present")


def request_kernel(module: str = "kubeproof.simulate.serving._kernel") -> Finding:
    """Whether requests of simulations are served by the compiled kernel."""
    try:
        import_module(module)
    except ImportError:
        return Finding(
            "request kernel", False, "not built; simulated requests are served many times slower",
            "It is built together with the compiled engine.",
        )  # fmt: skip
    return Finding("request kernel", True, "present")


def _libyaml() -> Finding:
    from importlib.util import find_spec

    if find_spec("yaml") is not None and find_spec("yaml._yaml") is not None:
        return Finding("libyaml", True, "present")
    return Finding(
        "libyaml", False, "missing; large manifests are read slowly",
        "Install a PyYAML wheel for your platform: pip install --force-reinstall PyYAML.",
    )  # fmt: skip


def package(name: str, module: str, extra: str) -> Finding:
    """Whether the package of an extra is installed; it is looked for, not loaded, since that takes long."""
    if _is_there(module):
        return Finding(name, True, "present")
    return Finding(name, False, f"missing; {NEEDED_FOR[extra]}", f"Install it: pip install 'kubeproof[{extra}]'.")


def _is_there(module: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False


def program(name: str, without: str, programs: tuple[str, ...]) -> Finding:
    """Whether one of the programs is on the PATH; none is needed for manifests as they are."""
    from shutil import which

    found = next((path for path in map(which, programs) if path), None)
    remedy = f"Install {' or '.join(programs)}, if you need it."
    return Finding(name, found is not None, found or f"not on the PATH; {without}", remedy)


def settings() -> Finding:
    """Which settings file applies here, and whether it can be used."""
    from kubeproof.cli.commands.verify import verify_command
    from kubeproof.cli.options.settings import find_settings, take_settings, working_directory
    from kubeproof.errors import KubeproofError
    from kubeproof.manifests.settings.exemptions import read_exemptions

    path = find_settings(working_directory())
    if path is None:
        return Finding("settings", True, "no .kubeproof.yaml here or above: defaults")
    try:
        take_settings(click.Context(verify_command), path)
        number = len(read_exemptions(path))
    except KubeproofError as problem:
        return Finding("settings", False, f"{path} cannot be used", " ".join(str(problem).split()))
    return Finding("settings", True, f"{path}, {number} exemption(s)")


def _terminal() -> str:
    kind = "terminal" if is_terminal(sys.stdout) else "not a terminal"
    encoding = getattr(sys.stdout, "encoding", None) or "no encoding"
    drawing = "box drawing" if shows_unicode(sys.stdout) else "ASCII drawing"
    return f"{kind}, {encoding}, {drawing}, {'colour' if wants_colour('auto', sys.stdout) else 'no colour'}"


def _as_text(findings: tuple[Finding, ...]) -> str:
    from kubeproof.report.escape import escape

    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{'ok' if finding.ok else '--'}  {finding.name:<{width}}  {escape(finding.found)}\n")
        if not finding.ok:
            lines.append(f"    {'':{width}}  {finding.remedy}\n")
    return "".join(lines)


def _as_json(findings: tuple[Finding, ...]) -> str:
    import json

    checks = [{**finding._asdict(), "remedy": "" if finding.ok else finding.remedy} for finding in findings]
    return json.dumps({"version": 1, "checks": checks}, indent=2) + "\n"
