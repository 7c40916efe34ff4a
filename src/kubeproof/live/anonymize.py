"""Other names for everything that tells whose cluster it is, the same one for the same name everywhere.

What stays is listed: numbers, amounts, and words of the API (`known_words`). All other texts are renamed, keys of
labels and resources, too. Ordinals stay at the end of names, and the claims of a StatefulSet keep following its name.
"""

from __future__ import annotations

import re
from typing import Any

from kubeproof.live.addresses import Addresses
from kubeproof.live.known_words import KEYS, PROVISIONERS, RESOURCE_NAMES, WORDS
from kubeproof.manifests.components.known import COMPONENTS
from kubeproof.manifests.settings.ignores import PREFIX

Object = dict[str, Any]

_AMOUNTS = frozenset(
    (
        *("requests", "limits", "capacity", "allocatable", "hard", "overhead", "minAllowed", "maxAllowed"),
        *("default", "defaultRequest", "max", "min", "maxLimitRequestRatio"),  # of LimitRanges
    )
)
_BY_KEY = frozenset(["labels", "matchLabels", "nodeSelector", "annotations", "selector"])
_LABEL_KEYS = frozenset(["key", "topologyKey", "matchLabelKeys", "mismatchLabelKeys"])
_LISTS = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"  # of names, in one text
_QUANTITIES = (("target", "averageValue"), ("target", "value"), ("scaleUp", "tolerance"), ("scaleDown", "tolerance"))
_QUANTITY = re.compile(r"[-+]?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,3}|[numkMGTPE]i?|Ki)?", re.ASCII)
_ORDINAL = re.compile(r"(.+)-(\d{1,9})", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,9}%?", re.ASCII)
_HUGE_PAGES = re.compile(r"hugepages-[0-9]{1,5}[KMGT]i", re.ASCII)
_PROPERTY = re.compile(r"[A-Z][0-9]{3}", re.ASCII)
_OF_CLASS = ".storageclass.storage.k8s.io/"
_MOMENT = "2000-01-01T00:00:00Z"


class Anonymizer:
    """Renames object after object; StatefulSets must come before their claims."""

    def __init__(self, secret: bytes | None = None) -> None:
        self._stems: dict[str, str] = {}  # names without the number at their end
        self._learned: dict[str, str] = {}  # of StatefulSets and their claims, which others are called after
        self._images: dict[str, str] = {}
        self._address = Addresses(secret)

    def __call__(self, item: Object) -> Object:
        """The object with other names."""
        if item.get("kind") == "StatefulSet":
            self._learn_claims(item)
        return self._fields("", item)

    def _learn_claims(self, item: Object) -> None:
        """Claims are called after their template and the StatefulSet; so are those that are renamed."""
        given = str((item.get("metadata") or {}).get("name", ""))
        own = self.name(given)
        self._learned.setdefault(given, own)
        for template in (item.get("spec") or {}).get("volumeClaimTemplates") or ():
            name = str((template.get("metadata") or {}).get("name", ""))
            self._learned[f"{name}-{given}"] = f"{self.name(name)}-{own}"

    def _value(self, above: str, key: str, value: Any) -> Any:
        """The value of a key in the value of the key above."""
        if isinstance(value, list):
            return [self._fields(key, one) if isinstance(one, dict) else self._value(above, key, one) for one in value]
        if isinstance(value, str):
            return self._text(above, key, value)
        if not isinstance(value, dict):
            return value
        if key in _AMOUNTS:
            return {self.resource(name): self._amount(inner) for name, inner in value.items()}
        if key in _BY_KEY and all(isinstance(inner, str) for inner in value.values()):
            return {self.key(name): self._label(name, inner) for name, inner in value.items()}
        return self._fields(key, value)

    def _fields(self, above: str, value: Object) -> Object:
        return {key: self._value(above, key, inner) for key, inner in value.items()}

    def _text(self, above: str, key: str, text: str) -> str:
        if key in ("image", "reference") or (above, key) == ("images", "names"):
            return self.image(text) if text else text
        if key in _LABEL_KEYS:
            return self.key(text)
        if key in ("cidr", "except", "hostIP"):
            return self._address(text) or self.name(text)
        if key == "provisioner" and text in PROVISIONERS:
            return text
        if key == "deletionTimestamp":
            return _MOMENT
        if (above, key) in _QUANTITIES:
            return self._amount(text)  # type: ignore[no-any-return]
        if key == "schedule" and _is_schedule(text):
            return text
        return self.name(text)

    def _label(self, key: str, text: str) -> str:
        """The value of a label or annotation."""
        return ",".join(self.name(part) for part in text.split(",")) if key == _LISTS else self.name(text)

    def _amount(self, value: Any) -> Any:
        is_text = isinstance(value, str) and not _QUANTITY.fullmatch(value)
        return self.name(value) if is_text else value

    def image(self, text: str) -> str:
        """Another image with a tag; one without a tag or digest means the latest."""
        last = text.rpartition("/")[2]
        whole = text if ":" in last or "@" in last else f"{text}:latest"
        program = re.split("[:@]", last)[0]
        shown = program if program in COMPONENTS else "image"
        return self._images.setdefault(whole, f"{shown}:v{len(self._images) + 1}")

    def key(self, text: str) -> str:
        """Another key of a label, annotation or taint; those that control loops know stay."""
        if text in KEYS:
            return text
        if text.startswith(PREFIX):
            about = text.removeprefix(PREFIX)
            return text if _PROPERTY.fullmatch(about) else f"{PREFIX}{self._stem(about)}"
        return self._stem(text) if text else text

    def resource(self, text: str) -> str:
        """Another name of a resource; those of Kubernetes stay, extended ones stay extended."""
        if text in RESOURCE_NAMES or _HUGE_PAGES.fullmatch(text):
            return text
        for prefix in ("requests.", "limits."):
            if text.startswith(prefix):
                return f"{prefix}{self.resource(text.removeprefix(prefix))}"
        if _OF_CLASS in text:
            name, _, rest = text.partition(_OF_CLASS)
            return f"{self.name(name)}{_OF_CLASS}{self.resource(rest)}"
        if text.startswith("count/"):
            return f"count/{self._stem(text)}"
        domain, slash, _ = text.rpartition("/")
        home = "example.kubernetes.io" if domain.endswith("kubernetes.io") else "example.com"
        return f"{home}/{self._stem(text)}" if slash else self._stem(text)

    def name(self, text: str) -> str:
        """Another name, valid wherever a name or a label value is; numbers and words of Kubernetes stay."""
        if text in WORDS or text in RESOURCE_NAMES or _NUMBER.fullmatch(text):
            return text
        numbered = _ORDINAL.fullmatch(text)
        if text in self._learned or numbered is None:
            return self._stem(text)
        return f"{self._stem(numbered[1])}-{numbered[2]}"  # one number alone: several are an address or a date

    def _stem(self, text: str) -> str:
        known = self._learned.get(text) or self._stems.get(text)
        return known or self._stems.setdefault(text, f"n{len(self._stems) + len(self._learned) + 1}")


def _is_schedule(text: str) -> bool:
    from kubeproof.manifests.kinds.cron import gaps_of  # few clusters have CronJobs

    return gaps_of(text) is not None
