"""What kubectl reads and YAML does not: JSON with its own escapes, several documents of it, keys that are no text."""

from __future__ import annotations

import re

from kubeproof.manifests.yaml.tree import TRUE_WORDS, Scalar, ScalarKind, whole_number

_MOST_DOCUMENTS = 1_000
_AFTER_END = r"(?m)^\.\.\.[ \t]*\n(?:(?!---).*\n?)*"
_PAIR = r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"


def key_text(value: Scalar) -> str | None:
    """The text of a key, as kubectl writes it into JSON; None for null and for numbers that it writes in many ways."""
    if value.kind in (ScalarKind.STRING, ScalarKind.INTEGER):
        return value.text
    if value.kind is ScalarKind.BOOLEAN:
        return "true" if value.text.lower() in TRUE_WORDS else "false"
    if value.kind is ScalarKind.ODD_NUMBER:
        number = whole_number(value.text)
        return None if number is None else str(number)
    return None


def json_documents(text: str) -> list[str] | None:
    """Documents of JSON that follow each other, each as YAML in the lines where it stands.

    None if it is no JSON, or too many of them: every one is as long as all before it together.
    """
    import json

    decoder, blank, found = json.JSONDecoder(), re.compile(r"\s*"), []
    at = line = 0
    try:
        while at < len(text):
            end = decoder.raw_decode(text, at)[1]
            found.append("\n" * line + _with_whole_characters(text[at:end]))
            following = blank.match(text, end)
            line, at = line + text.count("\n", at, end), end
            if following is not None:
                line, at = line + following[0].count("\n"), following.end()
            if len(found) > _MOST_DOCUMENTS:
                return None
    except (ValueError, RecursionError):
        return None
    return found


def as_kubectl_reads(text: str) -> str | None:
    """The text without what kubectl takes and YAML does not; None if it has nothing of the kind.

    That is an escape, and what follows the end of a document (`...`) without beginning another one, which it skips.
    """
    mended = re.sub(_AFTER_END, lambda found: "\n" * found[0].count("\n"), text).replace("\\'", "'")
    return None if mended == text else mended


def _with_whole_characters(text: str) -> str:
    """The text with one escape for each character that JSON writes as a pair."""
    return re.sub(rf"\\\\|{_PAIR}", _whole, text)


def _whole(found: re.Match[str]) -> str:
    if found[1] is None:  # a backslash that is escaped
        return found[0]
    high, low = int(found[1], 16), int(found[2], 16)
    return f"\\U{0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF):08X}"
