"""Reads `.kubeproof.yaml`, the settings a project keeps for the command line."""

from __future__ import annotations

import os
from typing import Any

from kubeproof.errors import UsageError

MAX_BYTES = 65_536  # a settings file has a few lines; anything larger is a mistake or an attack
MAX_DEPTH = 8


def read_config(path: str | os.PathLike[str]) -> dict[str, object]:
    """The settings of a file, {} when it is empty; what they mean is for the caller to judge."""
    text = _read(os.fspath(path))
    import yaml

    try:
        _refuse_costly(text, path)
        values = yaml.load(text, Loader=_loader())
    except (yaml.YAMLError, ValueError) as problem:
        raise UsageError(
            f"{_locate(path, problem)}: not valid YAML: {_describe_problem(problem)}", "Correct the file."
        ) from None
    if values is None:
        return {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise UsageError(f"{path}: settings must be a mapping with text keys", "See docs/reference/cli.md.")
    return values


def line_of(path: str | os.PathLike[str], *keys: str) -> int:
    """The line of a setting, by the keys that lead to it, in a file that `read_config` has taken."""
    import yaml

    node, line = yaml.compose(_read(os.fspath(path)), Loader=_loader()), 1
    for key in keys:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = next(((name, value) for name, value in pairs if name.value == key), None)
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line


def _refuse_costly(text: str, path: str | os.PathLike[str]) -> None:
    """Refuses aliases and deep nesting, whose cost the size of the file does not bound."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=_loader()):
        if isinstance(event, yaml.AliasEvent):
            place = f"{path}:{event.start_mark.line + 1}" if event.start_mark else path
            raise UsageError(f"{place}: aliases are not allowed in settings", "Write the value out.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise UsageError(f"{path}: nested deeper than {MAX_DEPTH} levels", "Keep only settings in it.")


def _loader() -> Any:
    """The safe loader, libyaml's when PyYAML was built with it."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _read(path: str) -> str:
    """The file's text; unreadable, too large or not UTF-8 is wrong configuration."""
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise UsageError(f"{path}: larger than {MAX_BYTES} bytes", "Keep only settings in it.")
        return content.decode("utf-8")
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {problem.strerror}", "Check the path and its permissions.") from None
    except UnicodeDecodeError as problem:
        raise UsageError(f"{path}: cannot be read: {_one_line(problem)}", "Correct or remove the file.") from None


def _locate(path: str | os.PathLike[str], problem: Exception) -> str:
    """The file, with the line where that is known."""
    mark = getattr(problem, "problem_mark", None)
    return f"{path}:{mark.line + 1}" if mark is not None else str(path)


def _describe_problem(problem: Exception) -> str:
    """What is wrong; the place stands before it."""
    return getattr(problem, "problem", None) or _one_line(problem)


def _one_line(problem: Exception) -> str:
    return " ".join(str(problem).split()) or type(problem).__name__
