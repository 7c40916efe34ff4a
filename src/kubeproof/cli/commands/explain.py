"""`kubeproof explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.running.reports import text_style
from kubeproof.cli.running.terminal import WHEN
from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.report.lexicon.entry import Explanation


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """IDs, keys and words that begin like this, for shells."""
    from kubeproof.report.explain import explanations

    names = [name for one in explanations() for name in (one.name, *one.aliases)]
    return [name for name in names if name.lower().startswith(incomplete.lower())]


@click.command("explain", short_help="Tell what a property, event, error code or verdict means.")
@click.argument("words", nargs=-1, metavar="[ID...]", shell_complete=_complete)
@click.option(
    "--color", type=click.Choice(WHEN), default="auto", envvar="KUBEPROOF_COLOR", show_default=True,
    help="When to colour text.",
)  # fmt: skip
@output_option("text", "json")
def explain_command(*, words: tuple[str, ...], color: str, outputs: tuple[Output, ...]) -> int:
    """Tell what a property, event, fault, grade, error code or verdict means, how to write it and what to do about it.

    Without ID: list all of them.

    \b
    Examples:
      kubeproof explain S005
      kubeproof explain noEvictionLoop drain
      kubeproof explain E301
      kubeproof explain nodeLoss stuck
      kubeproof explain
    """
    entries = explain_words(words)

    def render(output: Output) -> str:
        from kubeproof.report import explain

        if output.format == "json":
            return explain.as_json(entries)
        if not words:
            return _table(entries)
        return explain.as_text(entries, text_style(output, color))

    return emit(outputs, render)


def explain_words(words: tuple[str, ...]) -> tuple[Explanation, ...]:
    """The explanations of the words, all without any; an unknown word is wrong usage, with a suggestion."""
    from kubeproof.report.explain import explanations, find

    if not words:
        return tuple(explanations())
    entries: list[Explanation] = []
    for word in words:
        known = find(word)
        if not known:
            raise _unknown(word, tuple(explanations()))
        entries += [one for one in known if one not in entries]
    return tuple(entries)


def _unknown(word: str, known: tuple[Explanation, ...]) -> UsageError:
    from difflib import get_close_matches

    names = {name.lower(): name for one in known for name in (one.name, *one.aliases)}
    close = get_close_matches(word.lower()[:100], names, 1)
    remedy = f"Did you mean {names[close[0]]}?" if close else "kubeproof explain lists what there is."
    return UsageError(f"there is nothing called {word!r}", remedy)


def _table(entries: tuple[Explanation, ...]) -> str:
    from kubeproof.cli.commands.cases import align

    return align([(one.name, one.kind, _line(one)) for one in entries])


def _line(entry: Explanation) -> str:
    """The title, unless it says no more than the name; properties, with an ID for a name, tell more."""
    if entry.brief:
        return f"{entry.title}: {entry.brief}"
    return entry.title if entry.title != entry.name else entry.text
