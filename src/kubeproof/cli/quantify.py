"""`kubeproof quantify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kubeproof.cli.outputs import Decorator, Output, emit, output_option
from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.quantify.checking import CheckSettings
    from kubeproof.quantify.result import QuantifyResult

EXIT_CODES = {"VIOLATED": 1, "UNKNOWN": 3}
METHODS = (
    "auto", "sound-value-iteration", "interval-iteration", "optimistic-value-iteration", "value-iteration",
    "policy-iteration",
)  # fmt: skip


@click.group("quantify")
def quantify_group() -> None:
    """How likely, how much: probabilistic models, answered by Storm (the extra "quantify").

    \b
    Examples:
      kubeproof quantify prism model.prism --props model.props
      kubeproof quantify prism model.prism --const N=3 --property 'Pmax=? [F "failed"]'
    """


def precision_options(command: Any) -> Any:
    """The options about precision, the same for all probabilistic models."""
    options: list[Decorator] = [
        click.option("--precision", type=float, default=1e-6, show_default=True, help="Relative precision of a value."),
        click.option("--method", type=click.Choice(METHODS), default="auto", help="How Storm iterates; default auto."),
        click.option(
            "--max-iterations", type=click.IntRange(1), help="Give up after so many; the interval is reported."
        ),
        click.option("--exact", is_flag=True, help="Compute with fractions; for small models."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def settings_of(options: dict[str, Any]) -> CheckSettings:
    """The settings that were asked for."""
    from kubeproof.quantify.checking import CheckSettings

    if not 0 < options["precision"] < 1:
        raise UsageError(f"--precision {options['precision']:g} is not between 0 and 1", "The default is 1e-6.")
    return CheckSettings(options["precision"], options["method"], options["max_iterations"])


@quantify_group.command("prism", short_help="Check properties of a PRISM program.")
@click.argument("file", metavar="MODEL")
@click.option("--props", metavar="FILE", help="Properties, as PRISM and Storm write them.")
@click.option("-p", "--property", "texts", metavar="PROPERTY", multiple=True, help="One more property.")
@click.option("--only", metavar="NAME", multiple=True, help="Only this property of the file.")
@click.option("--const", "constants", metavar="NAME=VALUE", multiple=True, help="The value of an open constant.")
@precision_options
@output_option("text", "json")
def prism_command(
    *, file: str, props: str | None, texts: tuple[str, ...], only: tuple[str, ...], constants: tuple[str, ...],
    outputs: tuple[Output, ...], **options: Any,
) -> int:  # fmt: skip
    """Check properties of a Markov decision process, Markov chain or Markov automaton in the PRISM language.

    Every value comes with bounds where the property allows it, and with the method that found it.

    \b
    Examples:
      kubeproof quantify prism model.prism --props model.props
      kubeproof quantify prism model.prism --const N=3,p=0.5 --property 'Pmax=? [F "failed"]'
      kubeproof quantify prism model.prism --props model.props --only failure --exact -o json

    \b
    Exit codes: 0 all values found and thresholds met, 1 a threshold is missed, 2 wrong usage or property,
    3 not converged or too close to a threshold to tell, 4 program refused, 5 no property, 6 Storm is missing.
    """
    from kubeproof.quantify.run import PrismOptions, check_prism

    wanted = PrismOptions(props, texts, only, constants_of(constants), options["exact"], settings_of(options))
    return reported(check_prism(file, wanted), outputs)


def constants_of(texts: tuple[str, ...]) -> dict[str, str]:
    """The constants of all `--const` options; each may list several, separated by commas."""
    found: dict[str, str] = {}
    for text in (part for given in texts for part in given.split(",")):
        name, equals, value = (word.strip() for word in text.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"--const {text!r} is not NAME=VALUE", "Write --const N=3.")
        if name in found:
            raise UsageError(f"--const {name} is given twice", "Leave one out.")
        found[name] = value
    return found


def reported(result: QuantifyResult, outputs: tuple[Output, ...]) -> int:
    """Writes the reports and returns the exit code."""
    from kubeproof.report.quantify import as_json, as_text

    emit(outputs, lambda output: as_json(result) if output.format == "json" else as_text(result))
    return EXIT_CODES.get(result.verdict, 0)
