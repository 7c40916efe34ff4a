"""`kubeproof properties`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubeproof.cli.outputs import Output, emit, output_option

if TYPE_CHECKING:
    from kubeproof.intents.catalogue import PropertyEntry


@click.group("properties")
def properties_group() -> None:
    """The properties that intents can name.

    \b
    Examples:
      kubeproof properties list
      kubeproof properties list -o json
    """


@properties_group.command("list")
@output_option("text", "json")
def list_command(*, outputs: tuple[Output, ...]) -> int:
    """List ID, key, category and meaning of every property.

    \b
    Examples:
      kubeproof properties list
      kubeproof properties list -o json=properties.json
    """
    from kubeproof.intents.catalogue import catalogue

    entries = catalogue()
    emit(outputs, lambda output: _as_json(entries) if output.format == "json" else _as_text(entries))
    return 0


def _as_text(entries: tuple[PropertyEntry, ...]) -> str:
    keys = max((len(entry.key) for entry in entries), default=0)
    categories = max((len(entry.category) for entry in entries), default=0)
    return "".join(f"{one.id}  {one.key:<{keys}}  {one.category:<{categories}}  {one.text}\n" for one in entries)


def _as_json(entries: tuple[PropertyEntry, ...]) -> str:
    import json

    properties = [
        {"id": one.id, "key": one.key, "category": one.category, "text": one.text, "fields": list(one.fields)}
        for one in entries
    ]
    return json.dumps({"version": 1, "properties": properties}, indent=2) + "\n"
