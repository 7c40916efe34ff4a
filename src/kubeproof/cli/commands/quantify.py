"""`kubeproof quantify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kubeproof.cli.commands.quantify_cluster import cluster_command, compare_command
from kubeproof.cli.options.outputs import Decorator, Output, emit, output_option
from kubeproof.cli.options.ranges import NumberRange
from kubeproof.errors import UsageError
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubeproof.quantify.methods import CheckSettings
    from kubeproof.quantify.published.files import OwnModel
    from kubeproof.quantify.result import QuantifyResult

EXIT_CODES: dict[str, int] = {Verdict.VIOLATED: 1, Verdict.UNKNOWN: 3}
MODELS = ("base", "latency", "energy", "scalability", "full")
METHODS = ("auto", "optimistic-value-iteration", "interval-iteration")


@click.group("quantify")
def quantify_group() -> None:
    """How likely, how much: probabilistic models, answered by Storm (the extra "quantify").

    \b
    Examples:
      kubeproof quantify cluster manifests/ --within 24h
      kubeproof quantify autoscaling --model base --setting 1
      kubeproof quantify prism model.prism --props model.props
      kubeproof quantify prism model.prism --const N=3 --property 'Pmax=? [F "failed"]'
    """


quantify_group.add_command(cluster_command)
quantify_group.add_command(compare_command)


def precision_options(command: Any) -> Any:
    """The options about precision, the same for all probabilistic models."""
    options: list[Decorator] = [
        click.option("--precision", type=float, default=1e-6, show_default=True, help="Relative precision of a value."),
        click.option("--method", type=click.Choice(METHODS), default="auto", help="How Storm iterates; default auto."),
        click.option(
            "--max-iterations", type=click.IntRange(1), help="Give up after so many; the interval is reported."
        ),
        click.option("--timeout", type=NumberRange(0, min_open=True), metavar="S", help="Give up after so long."),
        click.option("--memory", type=click.IntRange(16), metavar="MIB", help="Give up rather than take more memory."),
        click.option(
            "--sound/--no-sound", "is_sound", default=True, show_default=True,
            help="Values with bounds where the property allows; without, as Storm iterates by itself.",
        ),
        click.option("--exact", is_flag=True, help="Compute with fractions; for small models."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def settings_of(options: dict[str, Any]) -> CheckSettings:
    """The settings that were asked for."""
    from kubeproof.quantify.methods import CheckSettings

    if not 0 < options["precision"] < 1:
        raise UsageError(f"--precision {options['precision']:g} is not between 0 and 1", "The default is 1e-6.")
    if not options["is_sound"] and options["method"] != "auto":
        raise UsageError(f"--method {options['method']} is a sound method", "Leave out --no-sound or --method.")
    return CheckSettings(options["precision"], options["method"], options["max_iterations"], options["is_sound"])


@quantify_group.command("autoscaling", short_help="Check published models of HPA decisions.")
@click.option(
    "--model", "models", type=click.Choice([*MODELS, "all"]), multiple=True, default=("base",), show_default=True,
    help="What scaling goes by: CPU (base), also latency, energy, scalability, or all of them (full). Repeatable.",
)  # fmt: skip
@click.option(
    "--setting", "settings", type=click.Choice(["1", "2", "3", "4", "all"]), multiple=True, default=("1",),
    show_default=True, help="The paper's setting of pods and response time. Repeatable.",
)  # fmt: skip
@click.option(
    "--set", "changes", metavar="NAME=VALUE", multiple=True,
    help="Any parameter, for instance max_pods=50, horizon=20 or point_a=100/0/30 (docs/reference/quantify.md).",
)  # fmt: skip
@click.option("--file", "own", metavar="FILE", help="Models of one's own instead, in a file with their parameters.")
@click.option("--steps", type=click.IntRange(1, 10**9), help="Bound of the properties; default: the horizon.")
@click.option("--only", metavar="NAME", multiple=True, help="Only this property of the paper.")
@click.option("-p", "--property", "texts", metavar="PROPERTY", multiple=True, help="Instead of the paper's properties.")
@click.option("--emit", type=click.Choice(["prism", "props"]), help="Print the program or the properties, and stop.")
@click.option(
    "--policy", metavar="NAME", default="",
    help="Print the optimal scaling policy for this property, and an HPA behavior where one fits.",
)  # fmt: skip
@click.option(
    "--bisimulation", is_flag=True, help="Check a smaller model with the same values: faster, but takes more memory."
)
@precision_options
@output_option("text", "json", "yaml", "html", "svg")
def autoscaling_command(
    *, models: tuple[str, ...], settings: tuple[str, ...], changes: tuple[str, ...], emit: str | None,
    outputs: tuple[Output, ...], **options: Any,
) -> int:  # fmt: skip
    """Check how much energy an autoscaler may take and how well it scales, on five published models of HPA decisions.

    Each model is a Markov decision process: metrics are random, decisions are open. The values are the least and the
    greatest over all decisions.

    \b
    Examples:
      kubeproof quantify autoscaling --model base --setting 1
      kubeproof quantify autoscaling --model all --setting all --set horizon=20 --steps 100
      kubeproof quantify autoscaling --model full --setting 4 --only energy_max --bisimulation -o json
      kubeproof quantify autoscaling --set horizon=20 --steps 100 --policy energy_min
      kubeproof quantify autoscaling --set horizon=20 --steps 100 --policy high_scalability -o yaml=behavior.yaml
      kubeproof quantify autoscaling --model energy --setting 2 --emit prism > energy.prism
      kubeproof quantify autoscaling --file mine.yaml -o html=mine.html

    \b
    Exit codes: as of quantify prism.
    """
    from kubeproof.cli.options.outputs import write_stdout
    from kubeproof.quantify.published import run

    wanted = run.AutoscalingOptions(
        _every(models, MODELS), tuple(int(one) for one in _every(settings, ("1", "2", "3", "4"))),
        parse_values(changes, "--set"), options["steps"], options["texts"], options["only"],
        options["policy"], options["bisimulation"], options["exact"], settings_of(options),
        _read_own(options["own"], changes),
    )  # fmt: skip
    if not wanted.policy and any(output.format == "yaml" for output in outputs):
        raise UsageError("-o yaml is the behavior of a policy", "Add --policy NAME.")
    if emit is not None:
        write_stdout(run.source_of(wanted) if emit == "prism" else run.properties_of(wanted))
        return 0
    return write_reports(_within(lambda tell: run.check_autoscaling(wanted, tell), options), outputs)


def _read_own(file: str | None, changes: tuple[str, ...]) -> tuple[OwnModel, ...]:
    """The models of a file; none without one."""
    from kubeproof.quantify.published.files import load_models

    if file is not None and changes:
        raise UsageError("--set changes the paper's parameters", "Write them into the file.")
    return () if file is None else load_models(file)


def _every(chosen: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """The chosen names without repetition, in the usual order; all of them for "all"."""
    return known if "all" in chosen else tuple(name for name in known if name in chosen)


def say(line: str) -> None:
    """One line of progress, for people at a terminal."""
    import sys

    from kubeproof.cli.running.terminal import is_terminal

    if is_terminal(sys.stderr):
        click.echo(line, err=True)


@quantify_group.command("prism", short_help="Check properties of a PRISM program.")
@click.argument("file", metavar="MODEL")
@click.option("--props", metavar="FILE", help="Properties, as PRISM and Storm write them.")
@click.option("-p", "--property", "texts", metavar="PROPERTY", multiple=True, help="One more property.")
@click.option("--only", metavar="NAME", multiple=True, help="Only this property of the file.")
@click.option("--whole", is_flag=True, help="Build the whole model, also behind the goal of a single property.")
@click.option(
    "--const", "constants", metavar="NAME=VALUE", multiple=True,
    help="The value of an open constant, or a range whose values are tried one by one: N=1..9, p=0.1..0.5/0.1.",
)  # fmt: skip
@click.option(
    "--vary", "varied", metavar="NAME=A..B", multiple=True,
    help="Leave a constant open: the value as a function of it, what it matters, where a threshold is met.",
)  # fmt: skip
@click.option("--policy", metavar="NAME", default="", help="Also the decisions that lead to the value of a property.")
@click.option("--log", "is_log", is_flag=True, help="Charts with powers of ten upwards.")
@precision_options
@output_option("text", "json", "html", "svg")
def prism_command(
    *, file: str, props: str | None, texts: tuple[str, ...], only: tuple[str, ...], constants: tuple[str, ...],
    varied: tuple[str, ...], policy: str, is_log: bool, outputs: tuple[Output, ...], **options: Any,
) -> int:  # fmt: skip
    """Check properties of a Markov decision process, Markov chain or Markov automaton in the PRISM language.

    Every value comes with bounds where the property allows it, and with the method that found it.

    \b
    Examples:
      kubeproof quantify prism model.prism --props model.props
      kubeproof quantify prism model.prism --const N=3,p=0.5 --property 'Pmax=? [F "failed"]'
      kubeproof quantify prism model.prism --props model.props --only failure --exact -o json
      kubeproof quantify prism model.prism --const N=1..9 --property 'Pmax=? [F "failed"]' -o html=sweep.html
      kubeproof quantify prism model.prism --property 'multi(Pmin=? [F "failed"], R{"cost"}min=? [C])' -o svg=front.svg
      kubeproof quantify prism model.prism --vary p=0.01..0.2 --property 'P<=0.1 [F "failed"]'
      kubeproof quantify prism model.prism --props model.props --policy failure

    \b
    Exit codes: 0 all values found and thresholds met, 1 a threshold is missed, 2 wrong usage or property,
    3 not converged or too close to a threshold to tell, 4 program refused, 5 no property, 6 Storm is missing.
    """
    from kubeproof.quantify.run import PrismOptions, check_prism

    wanted = PrismOptions(
        props, texts, only, parse_values(constants, "--const"), options["exact"], options["whole"],
        settings_of(options), parse_values(varied, "--vary"), policy,
    )  # fmt: skip
    return write_reports(_within(lambda tell: check_prism(file, wanted, tell), options), outputs, is_log=is_log)


def _within(ask: Callable[[Callable[[str], None]], QuantifyResult], options: dict[str, Any]) -> QuantifyResult:
    """The answers, unless a limit is passed; `ask` is given where to tell its progress."""
    from kubeproof.cli.running.limited import Reached, ask_storm

    reached = Reached()

    def tell(line: str) -> None:
        reached.tell(line)
        say(line)

    limits = {"timeout_s": options["timeout"], "memory_mib": options["memory"]}
    return ask_storm(lambda: ask(tell), **limits, reached=reached)


def parse_values(texts: tuple[str, ...], flag: str) -> dict[str, str]:
    """The values of all options of a flag; each may list several, separated by commas."""
    found: dict[str, str] = {}
    for text in (part for given in texts for part in given.split(",")):
        name, equals, value = (word.strip() for word in text.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"{flag} {text!r} is not NAME=VALUE", f"Write {flag} N=3.")
        if name in found:
            raise UsageError(f"{flag} {name} is given twice", "Leave one out.")
        found[name] = value
    return found


def write_reports(result: QuantifyResult, outputs: tuple[Output, ...], *, is_log: bool = False) -> int:
    """Writes the reports and returns the exit code."""
    from functools import partial

    from kubeproof.report.quantify import model_page
    from kubeproof.report.quantify import models as report

    render: dict[str, Callable[[QuantifyResult], str]] = {
        "text": report.as_text,
        "json": report.as_json,
        "yaml": report.as_yaml,
        "html": partial(model_page.as_html, is_log=is_log),
        "svg": partial(model_page.as_svg, is_log=is_log),
    }
    code = EXIT_CODES.get(result.verdict, 0)
    return emit(outputs, lambda output: render[output.format](result), code, verdict=result.verdict)
