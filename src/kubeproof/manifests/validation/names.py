"""The API server's rules for names, label keys and label values."""

from __future__ import annotations

import re

from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)


def is_dns_label(text: str) -> bool:
    """True for an RFC 1123 label: at most 63 lower-case letters, digits and dashes."""
    return len(text) <= 63 and _DNS_LABEL.fullmatch(text) is not None


def is_dns_subdomain(text: str) -> bool:
    """True for an RFC 1123 subdomain of at most 253 characters."""
    return len(text) <= 253 and _DNS_SUBDOMAIN.fullmatch(text) is not None


def is_label_key(text: str) -> bool:
    """True for a qualified name: an optional DNS prefix, a slash, a name of at most 63 characters."""
    prefix, slash, name = text.rpartition("/")
    if slash and not is_dns_subdomain(prefix):
        return False
    return len(name) <= 63 and _QUALIFIED.fullmatch(name) is not None


def is_label_value(text: str) -> bool:
    """True for an empty text or a name of at most 63 characters."""
    return text == "" or (len(text) <= 63 and _QUALIFIED.fullmatch(text) is not None)


def read_labels(fields: Fields, key: str) -> dict[str, str]:
    """A mapping of valid label keys to valid label values."""
    child = fields.child(key)
    if child is None:
        return {}
    labels = fields.text_map(key)
    for name, value in labels.items():
        if not is_label_key(name):
            child.fail(name, "is not a label key", remedy="Use letters, digits, - _ . and at most one DNS prefix")
        if not is_label_value(value):
            child.fail(
                name,
                f"is {printable(value)!r}, not a label value",
                remedy="At most 63 letters, digits, - _ .",
            )
    return labels


def check_label_key(fields: Fields, key: str, text: str) -> str:
    """The text, which must be a label key."""
    if not is_label_key(text):
        fields.fail(
            key,
            f"is {printable(text)!r}, not a label key",
            remedy="Use letters, digits, - _ . and one prefix",
        )
    return text
