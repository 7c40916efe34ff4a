"""Files of a git revision, in a directory of their own; git is only ever asked to read."""

from __future__ import annotations

import os
import subprocess
import tarfile

from kubeproof.errors import EnvironmentProblem, UsageError
from kubeproof.named_tuples import NamedTuple

MOST_BYTES = 500_000_000  # of what one revision brings
TIMEOUT_S = 120


class Side(NamedTuple):
    """One side of a comparison: what to load, and the directory its paths are shown from."""

    paths: tuple[str, ...]
    base: str


def split_revision(text: str) -> tuple[str, str] | None:
    """Revision and path of `REV:path`; None for what exists as a path."""
    revision, colon, path = text.partition(":")
    return (revision, path or ".") if colon and revision and not os.path.exists(text) else None


def extract(revision: str, path: str, into: str) -> str | None:
    """The path as it was in a revision, below a directory; None if the revision does not have it.

    The path counts from the root of the repository, as in `git show REV:path`; from the working directory if it begins
    with `./` or `../`.
    """
    top = _git("rev-parse", "--show-toplevel").strip()
    if path.startswith("."):
        path = os.path.relpath(os.path.abspath(path), os.path.realpath(top))
    if path.startswith(".."):
        raise UsageError(f"{path!r} is outside the repository", "Name a path inside it.")
    commit = _commit(revision)
    name = "" if path == "." else os.path.normpath(path)
    if name and not _has(commit, name, top):
        return None
    _unpack(["git", "-C", top, "archive", "--format=tar", commit, *(["--", name] if name else [])], into)
    _check_whole(commit, name, top, into)
    return os.path.join(into, name)


def _check_whole(commit: str, name: str, top: str, into: str) -> None:
    """Archives lack what `.gitattributes` says export-ignore of: a revision with less in it would be verified."""
    listed = _git("-C", top, "ls-tree", "-r", "-z", commit, *(["--", name] if name else []))
    for entry in filter(None, listed.split("\0")):
        about, _, path = entry.partition("\t")
        if about.split()[1] == "blob" and not os.path.lexists(os.path.join(into, path)):
            remedy = "Name the files without export-ignore of .gitattributes, or check the revision out."
            raise UsageError(f"{path!r} is left out of archives of this repository", remedy)


def _commit(revision: str) -> str:
    try:
        return _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    except UsageError:
        raise UsageError(f"{revision!r} is not a revision of this repository", "See git log.") from None


def _has(commit: str, name: str, top: str) -> bool:
    try:
        _git("-C", top, "cat-file", "-e", f"{commit}:{name}")
    except UsageError:
        return False
    return True


def _git(*words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except FileNotFoundError:
        raise EnvironmentProblem("E401 git is needed to read revisions and is not on the PATH. Install it.") from None
    except subprocess.TimeoutExpired:
        raise EnvironmentProblem(f"E401 git did not answer within {TIMEOUT_S} s.") from None
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
        raise UsageError(f"git {words[0]} failed: {said or 'it says nothing'}", "Run it inside the repository.")
    return done.stdout.decode("utf-8", "surrogateescape")


def _unpack(words: list[str], into: str) -> None:
    """The files of an archive; links that lead out of it, and more than a bound, are refused."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as git:
        total = 0
        try:
            with tarfile.open(fileobj=git.stdout, mode="r|") as archive:
                for member in archive:
                    total += member.size
                    if total > MOST_BYTES:
                        raise UsageError(
                            f"the revision holds more than {MOST_BYTES:,} bytes", "Name a smaller directory."
                        )
                    archive.extract(member, into, filter="data")
        except tarfile.TarError as problem:
            raise UsageError(f"the revision cannot be read: {problem}", "Check the repository with git fsck.") from None
        finally:
            git.kill()
