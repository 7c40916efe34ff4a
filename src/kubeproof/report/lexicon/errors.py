"""Error codes: when they come, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof import errors as module
from kubeproof.report.lexicon.entry import Explanation

# Code -> when it comes, what to do. The class says the rest.
SITUATIONS = {
    "E000": ("The base of all errors; never raised itself.", "Please report it, with the command and its input."),
    "E101": (
        "A file cannot be read, is no YAML, or an object is against the rules of the Kubernetes API. Up to 20 problems "
        "are listed together.",
        "Correct the line named. What kubectl apply --dry-run=server takes is taken here.",
    ),
    "E102": (
        "Input built to exhaust time or memory: alias bombs, deep nesting, tags, control characters, huge numbers. "
        "It is refused at its first flaw.",
        "Write the value out. No honest tool writes such files.",
    ),
    "E103": ("A trace or stream of events cannot be read.", "Correct the line named, or choose another --format."),
    "E201": (
        "A Scenario has an unknown field, target or event, or no stable placement to start from.",
        "Follow the suggestion in the message; kubeproof init writes a Scenario that works for your manifests.",
    ),
    "E202": ("The command line, a settings file or an own controller is wrong.", "See --help of the command."),
    "E203": (
        "A checkpoint belongs to another input, version or set of options, is in use, or would be overwritten.",
        "Use another directory, or the same command with --resume.",
    ),
    "E204": ("A formula cannot be read; the column is named.", "See docs/reference/ltl.md for the grammar."),
    "E205": (
        "An automaton file is not HOA version 1 with Büchi acceptance.",
        "Convert it, for instance with Spot's autfilt -B.",
    ),
    "E206": (
        "A predicate over cluster states cannot be read; the column is named.",
        "Functions are ready, replicas, desired, pending, running, terminating, evicted, created, skew, nodes, on, "
        "stable.",
    ),
    "E207": ("A PRISM program cannot be used; line and column are named.", "Correct the program: rows must sum to 1."),
    "E208": ("A probabilistic property cannot be used.", "Name labels, rewards and constants that the model has."),
    "E209": ("A rule for streams of events cannot be used.", "See docs/reference/rules.md."),
    "E210": (
        "Exemptions of the settings file, or a baseline, cannot be used.",
        "Every exemption needs id and reason; write a baseline again with --write-baseline.",
    ),
    "E301": (
        "There is no workload in the input, or no property to check.",
        "Name files with a Deployment, StatefulSet, DaemonSet, Job or Pod, and intents if there is a Scenario.",
    ),
    "E302": (
        "A --timeout or --memory ended the work, or something has more alternatives than are followed: the victims of "
        "one scale-down, the outcomes of one descheduling cycle, the automaton of a formula. verify answers UNKNOWN.",
        "Allow more --timeout, --memory or --max-states, split the formula, or make the input smaller.",
    ),
    "E401": (
        "Something outside is missing or fails: a program, an extra, a file that cannot be written.",
        "Follow the message; kubeproof doctor tells what this installation can do.",
    ),
    "E402": (
        "The cluster cannot be reached, or does not permit a read.",
        "Check the kubeconfig and the role; only get and list are used.",
    ),
    "E700": ("A promise of ours is broken.", "Please report it with the input and the traceback of KUBEPROOF_DEBUG=1."),
    "E701": (
        "With --check-controllers: a controller gave two answers for the same view, so that no verdict can be trusted.",
        "Make the controller a function of what it is shown: no clock, no randomness, no state of its own.",
    ),
    "E703": (
        "The process that verified one size of a sweep died, twice; that size is ERROR.",
        "Allow more memory, or use fewer --workers.",
    ),
}


def errors() -> Iterator[Explanation]:
    """All error codes that this version can tell."""
    classes = {
        one.code: one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, module.KubeproofError)
    }
    for code, (text, remedy) in SITUATIONS.items():
        known = classes.get(code)
        if known is None and code != "E703":  # told inside a result, never raised
            continue
        title = " ".join((known.__doc__ or "").split("\n")[0].split()) if known else "A process of a sweep died."
        facts = (
            (("exit code", str(known.exit_code)), ("in Python", f"kubeproof.errors.{known.__name__}")) if known else ()
        )
        yield Explanation(code, "error", title.rstrip("."), text, facts, remedy=remedy, page="docs/reference/errors.md")
