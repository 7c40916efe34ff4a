"""`kubeproof properties`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.errors import AutomatonError, UsageError

if TYPE_CHECKING:
    from kubeproof.intents.kind import IntentKind
    from kubeproof.intents.library.service_levels import LevelKind
    from kubeproof.logic.property import Property
    from kubeproof.verify.checks.declaration import Check

MOST_BYTES = 20_000_000  # of an automaton file


@click.group("properties")
def properties_group() -> None:
    """The properties that intents can name, and formulas of your own.

    \b
    Examples:
      kubeproof properties list
      kubeproof properties show S005
      kubeproof properties classify 'G(pending -> F running)'
      kubeproof properties decompose 'p U q' -o dot=parts.dot
    """


@properties_group.command("list")
@output_option("text", "json")
def list_command(*, outputs: tuple[Output, ...]) -> int:
    """List ID, key, category and meaning of every property and service level, then of every check without a search.

    \b
    Examples:
      kubeproof properties list
      kubeproof properties list -o json=properties.json
    """
    from kubeproof.intents.catalogue import catalogue
    from kubeproof.intents.library.service_levels import LEVELS
    from kubeproof.verify.checks.catalogue import checks

    entries, known = catalogue(), checks()
    render = {"json": _as_json, "text": _as_text}
    return emit(outputs, lambda output: render[output.format](entries, LEVELS, known))


@properties_group.command("show")
@click.argument("names", nargs=-1, required=True, metavar="ID|KEY...")
@output_option("text", "json")
def show_command(names: tuple[str, ...], *, outputs: tuple[Output, ...]) -> int:
    """Show what properties mean: fields, what breaks them, an example, what helps.

    \b
    Examples:
      kubeproof properties show S005
      kubeproof properties show minReady maxSkew
    """
    from kubeproof.cli.commands.explain import explain_words
    from kubeproof.cli.running.reports import text_style
    from kubeproof.report import explain

    entries = tuple(one for one in explain_words(names) if one.kind == "property")
    if not entries:
        raise UsageError(f"{names[0]!r} is no property", "kubeproof properties list lists them.")

    def render(output: Output) -> str:
        return (
            explain.as_json(entries)
            if output.format == "json"
            else explain.as_text(entries, text_style(output, "auto"))
        )

    return emit(outputs, render)


@properties_group.command("classify")
@click.argument("formula", metavar="FORMULA|FILE.hoa")
@output_option("text", "json")
def classify_command(formula: str, *, outputs: tuple[Output, ...]) -> int:
    """Tell whether a property is a safety property, a liveness property, both or neither.

    The property is an LTL formula (G F X U R W M, ! & | -> <->) or a Büchi automaton in HOA format.

    \b
    Examples:
      kubeproof properties classify 'G(pending -> F running)'
      kubeproof properties classify automaton.hoa -o json
    """
    from kubeproof.report.properties import classify_as_json, classify_as_text

    one = _property(formula)
    return emit(outputs, lambda output: classify_as_json(one) if output.format == "json" else classify_as_text(one))


@properties_group.command("decompose")
@click.argument("formula", metavar="FORMULA|FILE.hoa")
@output_option("text", "json", "hoa", "dot")
def decompose_command(formula: str, *, outputs: tuple[Output, ...]) -> int:
    """Split a property into a safety and a liveness part whose meet it is.

    \b
    Examples:
      kubeproof properties decompose 'start & F done'
      kubeproof properties decompose 'p U q' -o hoa=parts.hoa -o dot=parts.dot
      kubeproof properties decompose automaton.hoa
    """
    from kubeproof.report import properties as report

    one = _property(formula)
    render = {
        "text": report.decompose_as_text,
        "json": report.decompose_as_json,
        "hoa": report.decompose_as_hoa,
        "dot": report.decompose_as_dot,
    }
    return emit(outputs, lambda output: render[output.format](one))


def _property(text: str) -> Property:
    """The property that an argument stands for: what ends in .hoa is a file, everything else a formula."""
    from kubeproof.logic.property import from_file, from_formula

    if not text.endswith(".hoa"):
        return from_formula(text)
    try:
        with open(text, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as problem:
        raise AutomatonError(
            f"cannot be read: {problem.strerror}", file=text, line=1, remedy="Name a readable file"
        ) from None
    if len(content) > MOST_BYTES:
        raise AutomatonError("is too large", file=text, line=1, remedy=f"At most {MOST_BYTES} bytes are read")
    return from_file(content.decode("utf-8", "replace"), text)


def _as_text(entries: tuple[IntentKind, ...], levels: tuple[LevelKind, ...], checks: tuple[Check, ...]) -> str:
    rows = [(one.id, one.key, one.category, one.whole_text) for one in entries]
    properties = _rows([*rows, *((one.id, one.key, "service", one.text) for one in levels)])
    return properties + "\n" + _rows([(one.id, one.key, one.severity, one.title) for one in checks])


def _rows(rows: list[tuple[str, str, str, str]]) -> str:
    keys, kinds = (max((len(row[column]) for row in rows), default=0) for column in (1, 2))
    return "".join(f"{id_}  {key:<{keys}}  {kind:<{kinds}}  {text}\n" for id_, key, kind, text in rows)


def _as_json(entries: tuple[IntentKind, ...], levels: tuple[LevelKind, ...], checks: tuple[Check, ...]) -> str:
    import json

    properties = [
        {"id": one.id, "key": one.key, "category": one.category, "text": one.whole_text, "fields": list(one.fields)}
        for one in entries
    ]
    promised = [
        {"id": one.id, "key": one.key, "text": one.text, "fields": list(one.fields), "judged_by": list(one.judged_by)}
        for one in levels
    ]
    found = [{"id": one.id, "key": one.key, "severity": one.severity, "text": one.title} for one in checks]
    return (
        json.dumps({"version": 1, "properties": properties, "service_levels": promised, "checks": found}, indent=2)
        + "\n"
    )
