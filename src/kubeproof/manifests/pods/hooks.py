"""Lifecycle hooks of containers: how long a preStop hook keeps them serving."""

from __future__ import annotations

import re

from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.tree import Scalar, Sequence

_SLEEP = re.compile(r"(?:/(?:usr/)?bin/)?sleep ([0-9]{1,6})s?", re.ASCII)
_SHELL = re.compile(r"(?:/(?:usr/)?bin/)?(?:ba|a|da|)sh", re.ASCII)


def read_pre_stop(fields: Fields) -> int:
    """The seconds that the container's preStop hook sleeps; 0 without one, and for one of unknown length."""
    lifecycle = fields.child("lifecycle")
    if lifecycle is None:
        return 0
    hook = lifecycle.child("preStop")
    lifecycle.finish("Lifecycle")
    if hook is None:
        return 0
    sleep, command = hook.child("sleep"), hook.child("exec")
    seconds = _read_sleep(sleep) if sleep is not None else 0
    if command is not None:
        seconds = _command_sleep(hook, command)
    hook.finish("LifecycleHandler")
    return seconds


def _read_sleep(sleep: Fields) -> int:
    seconds = sleep.integer("seconds") or 0
    sleep.finish("SleepAction")
    return seconds


def _command_sleep(hook: Fields, command: Fields) -> int:
    """The seconds of a command that does nothing but sleep; any other is told to take no time."""
    words = list(command.texts("command"))
    given = command.value("command")
    command.finish("ExecAction")
    if len(words) == 3 and _SHELL.fullmatch(words[0]) and words[1] == "-c":
        words = words[2].split()
    match = _SLEEP.fullmatch(" ".join(words))
    if given is not None:
        kept = () if match is None else ("sleep", match[1])
        scalars = tuple(Scalar(text, False, given.line, given.column) for text in kept)
        command.log.reads.keep(given, Sequence(scalars, given.line, given.column))
    if match is None:
        hook.omit("exec", "how long it takes is not known; it counts as no time")
        return 0
    return int(match[1])
