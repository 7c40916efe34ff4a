"""The page of every command and option, from the command line itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from kubeproof.cli.main import cli

HEAD = """# Every command and option

Written from the command line itself; `kubeproof COMMAND --help` says the same. What the commands have
in common (formats, exit codes, settings) is told under [command line](cli.md).
"""


def page() -> str:
    """The page in Markdown."""
    root = click.Context(cli, info_name="kubeproof")
    return "\n".join([HEAD, *(section for context in _contexts(root) for section in _section(context))])


def _contexts(context: click.Context) -> Iterator[click.Context]:
    """All commands that can be called, in the order of `--help`."""
    command = context.command
    if not isinstance(command, click.Group):
        yield context
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from _contexts(click.Context(found, info_name=name, parent=context))


def _section(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f"## {context.command_path}\n"
    # Wrapping of usage lines depends on the version of the library, so they are one line here.
    yield f"```text\n{' '.join([context.command_path, *command.collect_usage_pieces(context)])}\n```\n"
    yield from _paragraphs(inspect.cleandoc(command.help or ""))
    rows = [row for parameter in command.get_params(context) if (row := _row(context, parameter))]
    if rows:
        yield "| option | meaning |\n|---|---|"
        yield "\n".join(rows) + "\n"


def _paragraphs(text: str) -> Iterator[str]:
    """The text of `--help`; what click must not wrap is shown as it stands."""
    for paragraph in text.replace("\f", "").split("\n\n"):
        if paragraph.startswith("\b"):
            yield "```text\n" + paragraph.removeprefix("\b").strip("\n") + "\n```\n"
        else:
            yield _plain(paragraph) + "\n"


def _row(context: click.Context, parameter: click.Parameter) -> str | None:
    record = parameter.get_help_record(context)
    if record is None or isinstance(parameter, click.Argument) or "--help" in parameter.opts:
        return None
    names, meaning = record
    return f"| `{_cell(names)}` | {_cell(_plain(' '.join(meaning.split())))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _plain(text: str) -> str:
    """Text that Markdown takes as text."""
    return text.replace("<", "&lt;").replace("[", "\\[").replace("*", "\\*")
