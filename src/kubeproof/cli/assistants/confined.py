"""Runs one command of kubeproof under limits that it cannot lift: `python -P -m …confined MEBIBYTES WORDS…`."""

from __future__ import annotations

import sys

FILE_BYTES = 1 << 30  # of each file that it writes


def confine(memory_mib: int) -> None:
    """Bounds this process and whatever it starts; where the system has no such bounds, that of the search is left."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in (
        (resource.RLIMIT_AS, memory_mib * 1024 * 1024),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (bound, bound))


def main() -> int:
    """The exit code of the command."""
    confine(int(sys.argv[1]))
    from kubeproof.cli.main import main as run

    sys.argv[1:] = sys.argv[2:]
    return run()


if __name__ == "__main__":
    sys.exit(main())
