"""Every loop of a cluster says why it leaves things as they are, or is one that acts whenever it has work."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import kubeproof.controllers as package

ALWAYS_ACT = {  # what they lack is told by others, or they have no rule but their own work
    "Adapted": "it belongs to the user",
    "CronJobController": "its policy decides, and the Job that it waits for tells why",
    "DaemonSetController": "pods that are not let in, and nodes that refuse them, are told for it",
    "DeschedulerController": "who evicts nothing keeps nobody waiting",
    "EndpointController": "what proxies have not learnt is told where traffic is asked for",
    "GitOpsController": "it writes whenever something has drifted",
    "Guarded": "the loop inside tells, while it works",
    "Kubelet": "silent ones and rejections are told for it",
    "MachineArrival": "a machine that was asked for comes",
    "MachineDeparture": "a machine whose node is deleted goes",
    "NodeMonitor": "it notices every silence",
    "PinnedScheduler": "its refusals are told with the pods that wait",
    "PreemptingPinnedScheduler": "its refusals are told with the pods that wait",
    "ReplicaSetController": "pods that are not let in are told for it",
    "ResizedReplicaSet": "pods that are not let in are told for it",
    "SchedulerController": "its refusals are told with the pods that wait",
    "TaintEviction": "endless tolerations are told with the pods that stay",
    "VolumeController": "a claim that no volume is for is a filter's refusal",
    "VpaController": "it changes requests and keeps nobody waiting",
}


def loops() -> set[type]:
    """Every class of the room that can be shown a cluster and act."""
    found = set()
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(info.name)
        for _, one in inspect.getmembers(module, inspect.isclass):
            has_all = all(hasattr(one, name) for name in ("act", "show_workload", "show_node"))
            if one.__module__ == info.name and has_all and not getattr(one, "_is_protocol", False):
                found.add(one)
    return found


def test_a_loop_explains_itself_or_is_known_to_act_whenever_it_has_work():
    silent = {one.__name__ for one in loops() if not hasattr(one, "why_not")}

    assert silent - set(ALWAYS_ACT) == set()
    assert set(ALWAYS_ACT) - {one.__name__ for one in loops()} == set()
