"""Other names for everything that tells whose cluster it is, the same one for the same name everywhere.

All that decides what control loops do is kept: numbers, enumerations, and which names are equal. What is not known to
be harmless is renamed. Ordinals stay at the end of names, and the claims of a StatefulSet keep following its name.
"""

from __future__ import annotations

import re
from typing import Any

Object = dict[str, Any]


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Fields whose texts are words of the API, amounts or times: they tell nothing about the owner.
_KEPT = _words(
    "apiVersion kind type status phase operator effect whenUnsatisfiable nodeAffinityPolicy nodeTaintsPolicy protocol",
    "restartPolicy imagePullPolicy dnsPolicy preemptionPolicy podManagementPolicy updateMode concurrencyPolicy",
    "schedule completionMode podReplacementPolicy volumeBindingMode reclaimPolicy persistentVolumeReclaimPolicy",
    "volumeMode provisioner policy selectPolicy unhealthyPodEvictionPolicy externalTrafficPolicy pathType medium mode",
    "internalTrafficPolicy trafficDistribution creationTimestamp deletionTimestamp maxSurge maxUnavailable",
    "minAvailable averageUtilization averageValue storage whenDeleted whenScaled",
    "timeZone scopeName action reason apiGroup scheme controlledValues controlledResources sessionAffinity",
)
_AMOUNTS = _words(
    "requests limits capacity allocatable hard used overhead default defaultRequest max min maxLimitRequestRatio",
    "minAllowed maxAllowed",
)
_WORDS = _words(
    "accessModes policyTypes scopes finalizers ipFamilies",
    "syncOptions jsonPointers jqPathExpressions managedFieldsManagers",
)
_BY_KEY = _words("labels matchLabels nodeSelector annotations selector")
_DROPPED = _words(
    "clusterIP clusterIPs externalIPs loadBalancerIP externalName podCIDR podCIDRs providerID message uid host hosts",
    "tls secretName parameters mountOptions",
)
_WELL_KNOWN = ("kubernetes.io", "k8s.io", "kubeproof.dev")
_KEPT_TEXTS = frozenset(
    (
        "",
        "default",
        "kube-system",
        "default-scheduler",
        "metadata.name",
        "cpu",
        "memory",
        "pods",
        "linux",
        "windows",
        "amd64",
        "arm64",
        "arm",
        "s390x",
        "ppc64le",
        "riscv64",
        "system-cluster-critical",
        "system-node-critical",
        "true",
        "false",
    )
)
_ORDINAL = re.compile(r"(.+)-(\d{1,9})", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,9}%?", re.ASCII)
# Components whose flags decide what happens: known to everybody, and looked for by name.
_COMPONENTS = _words("cluster-autoscaler descheduler kube-controller-manager")


class Anonymizer:
    """Renames object after object; StatefulSets must come before their claims."""

    def __init__(self) -> None:
        self._stems: dict[str, str] = {}  # names without the number at their end
        self._learned: dict[str, str] = {}  # of StatefulSets and their claims, which others are called after
        self._images: dict[str, str] = {}

    def __call__(self, item: Object) -> Object:
        """The object with other names."""
        if item.get("kind") == "StatefulSet":
            self._learn_claims(item)
        return {key: self._value(key, value) for key, value in item.items()}

    def _learn_claims(self, item: Object) -> None:
        """Claims are called after their template and the StatefulSet; so are those that are renamed."""
        given = str((item.get("metadata") or {}).get("name", ""))
        own = self.name(given)
        self._learned.setdefault(given, own)
        for template in (item.get("spec") or {}).get("volumeClaimTemplates") or ():
            name = str((template.get("metadata") or {}).get("name", ""))
            self._learned[f"{name}-{given}"] = f"{self.name(name)}-{own}"

    def _value(self, key: str, value: Any) -> Any:
        if key in _AMOUNTS or key in _WORDS:
            return value
        if isinstance(value, dict):
            if key in _BY_KEY and all(isinstance(inner, str) for inner in value.values()):
                return {self.key(name): self.name(inner) for name, inner in value.items()}
            return {name: self._value(name, inner) for name, inner in value.items() if name not in _DROPPED}
        if isinstance(value, list):
            return self._images_of(value) if key == "images" else [self._value(key, inner) for inner in value]
        return self._text(key, value) if isinstance(value, str) else value

    def _text(self, key: str, text: str) -> str:
        if key == "image":
            return self.image(text)
        if key in ("key", "topologyKey", "matchLabelKeys", "mismatchLabelKeys", "labelSelectorKey"):
            return self.key(text)
        if key in _KEPT:
            return text
        return self.name(text)

    def _images_of(self, images: list[Any]) -> list[Any]:
        found = []
        for one in images:
            names = [self.image(str(name)) for name in one.get("names") or ()] if isinstance(one, dict) else []
            found.append({**one, "names": names} if names else one)
        return found

    def image(self, text: str) -> str:
        """Another image with a tag; one without a tag or digest means the latest."""
        last = text.rpartition("/")[2]
        whole = text if ":" in last or "@" in last else f"{text}:latest"
        program = re.split("[:@]", last)[0]
        shown = program if program in _COMPONENTS else "image"
        return self._images.setdefault(whole, f"{shown}:v{len(self._images) + 1}")

    def key(self, text: str) -> str:
        """Another label key; those of Kubernetes itself stay."""
        domain = text.partition("/")[0]
        if "/" in text and any(domain == known or domain.endswith(f".{known}") for known in _WELL_KNOWN):
            return text
        return self.name(text)

    def name(self, text: str) -> str:
        """Another name, valid wherever a name or a label value is; numbers and words of Kubernetes stay."""
        if text in _KEPT_TEXTS or _NUMBER.fullmatch(text):
            return text
        numbered = _ORDINAL.fullmatch(text)
        if text in self._learned or numbered is None:
            return self._stem(text)
        return f"{self._stem(numbered[1])}-{numbered[2]}"  # one number alone: several are an address or a date

    def _stem(self, text: str) -> str:
        known = self._learned.get(text) or self._stems.get(text)
        return known or self._stems.setdefault(text, f"n{len(self._stems) + len(self._learned) + 1}")
