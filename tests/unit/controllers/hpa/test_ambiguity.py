from __future__ import annotations

from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.controllers.hpa.ambiguity import is_ambiguous, selecting

WEB = LabelSelector((Requirement("app", "In", ("web",)),))
API = LabelSelector((Requirement("app", "In", ("api",)),))
TIER = LabelSelector((Requirement("tier", "Exists"),))
WEB_POD = (("app", "web"),)
TIERED_POD = (("app", "web"), ("tier", "front"))
API_POD = (("app", "api"),)


def test_two_autoscalers_on_one_target_both_refuse() -> None:
    known = {"first": WEB, "second": WEB}

    assert is_ambiguous("first", (WEB_POD,), known)
    assert is_ambiguous("second", (WEB_POD,), known)
    assert selecting((WEB_POD,), known) == ("first", "second")


def test_the_first_to_sync_is_alone_until_the_other_has_looked_at_metrics() -> None:
    assert not is_ambiguous("first", (WEB_POD,), {"first": WEB})


def test_one_shared_pod_is_enough() -> None:
    known = {"web": WEB, "tier": TIER}

    assert not is_ambiguous("web", (WEB_POD,), known)
    assert is_ambiguous("web", (WEB_POD, TIERED_POD), known)


def test_pods_of_others_and_no_pods_are_not_ambiguous() -> None:
    assert not is_ambiguous("web", (WEB_POD, API_POD), {"web": WEB, "api": API})
    assert not is_ambiguous("web", (), {"web": WEB, "again": WEB})
