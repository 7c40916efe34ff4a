"""Settings of a project: `.kubeproof.yaml`, weaker than flags and environment, stronger than defaults."""

from __future__ import annotations

import os

import click

from kubeproof.cli.options.acceptance import EXEMPTIONS
from kubeproof.cli.options.matrix import Asked, name_setting
from kubeproof.errors import UsageError

FILE_NAME = ".kubeproof.yaml"

# Key in the file -> parameter. Controllers are missing on purpose: they are code, and a file that merely lies
# in the directory of some manifests must not be able to run any.
VERIFY_KEYS = {
    "nodes": "pools",
    "engine": "engine",
    "timeout": "timeout_s",
    "memory": "memory_mib",
    "maxStates": "max_states",
    "reductions": "reductions",
    "checkControllers": "check_controllers",
    "find": "find",
    **{name_setting(field): field for field in Asked._fields},  # of the matrix
    "color": "color",
    "progress": "progress",
    "baseline": "baseline",
    "failOn": "fail_on",
    "softFail": "soft_fail",
}
LISTS = ("nodes",)  # settings that may have several values
SECTIONS = ("verify", "exemptions")


def find_settings(directory: str) -> str | None:
    """The nearest settings file in the directory or above it."""
    while True:
        candidate = os.path.join(directory, FILE_NAME)
        if os.path.isfile(candidate):
            return candidate
        above = os.path.dirname(directory)
        if above == directory:
            return None
        directory = above


def use_settings(ctx: click.Context, param: click.Parameter, path: str | None) -> None:
    """Makes the settings of the file (given, or the nearest) the defaults of the command."""
    path = path or find_settings(working_directory())
    if path is None:
        return
    if take_settings(ctx, path):
        ctx.meta[EXEMPTIONS] = os.path.relpath(path)  # as it is shown


def take_settings(ctx: click.Context, path: str) -> bool:
    """Checks the file and makes its settings the defaults of the command; tells whether it lists exemptions."""
    from kubeproof.manifests.settings.config import read_config

    values = read_config(path)
    _refuse_unknown(values, SECTIONS, path)
    section = values.get("verify") or {}
    if not isinstance(section, dict):
        raise UsageError(f"{_place(path, 'verify')}: verify must be a mapping", "See docs/reference/cli.md.")
    if "controllers" in section:
        place = _place(path, "verify", "controllers")
        raise UsageError(f"{place}: controllers cannot be set in a file", "They are code: name them with --controller.")
    _refuse_unknown(section, tuple(VERIFY_KEYS), path, "verify")
    ctx.default_map = {VERIFY_KEYS[key]: _check_value(ctx, key, section[key], path) for key in section}
    if "baseline" in section:  # it stands beside the settings, wherever the command is started
        ctx.default_map["baseline"] = _beside(path, ctx.default_map["baseline"])
    return bool(values.get("exemptions"))


def _beside(path: str, name: str) -> str:
    """A file that the settings name, which lies with them or below: whoever wrote them does not choose among all."""
    from kubeproof.manifests.folders.fence import fence_of

    found = os.path.join(os.path.dirname(path), name)
    if not fence_of((path,)).admits(found):
        place = _place(path, "verify", "baseline")
        raise UsageError(f"{place}: baseline lies outside the directory of the settings", "Name it with --baseline.")
    return found


def working_directory() -> str:
    """Where the command was started."""
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return os.sep


def _place(path: str, *keys: str) -> str:
    """The file and the line of a setting."""
    from kubeproof.manifests.settings.config import line_of

    return f"{path}:{line_of(path, *keys)}"


def _refuse_unknown(values: dict[str, object], known: tuple[str, ...], path: str, *above: str) -> None:
    for key in values:
        if key not in known:
            from difflib import get_close_matches

            close = get_close_matches(str(key), known, 1)
            remedy = f"Did you mean {'.'.join((*above, close[0]))}?" if close else f"Known: {', '.join(known)}."
            name = ".".join((*above, str(key)))
            raise UsageError(f"{_place(path, *above, str(key))}: unknown setting {name}", remedy)


def _check_value(ctx: click.Context, key: str, value: object, path: str) -> str | list[str]:
    """The value as text, as an environment variable would give it, if the option takes it; several for a list."""
    if isinstance(value, list) and key in LISTS:
        return [_check_one(ctx, key, one, path) for one in value]
    single = _check_one(ctx, key, value, path)
    return [single] if key in LISTS else single


def _check_one(ctx: click.Context, key: str, value: object, path: str) -> str:
    if not isinstance(value, str | int | float):
        place = _place(path, "verify", key)
        raise UsageError(f"{place}: verify.{key} must be a single value", "See docs/reference/cli.md.")
    parameter = next(one for one in ctx.command.params if one.name == VERIFY_KEYS[key])
    try:
        parameter.type_cast_value(ctx, [str(value)] if parameter.multiple else str(value))
    except click.BadParameter as problem:
        place = _place(path, "verify", key)
        raise UsageError(f"{place}: verify.{key}: {problem.message.rstrip('.')}", "Correct the file.") from None
    return str(value)
