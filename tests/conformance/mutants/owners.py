"""Wrong rules of DaemonSets, StatefulSets and Jobs that the corpora must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

ELIGIBLE, ON_NODES, UPDATE = "cluster/daemons.py", "controllers/daemon_nodes.py", "controllers/daemon_update.py"
DAEMON_SETS = "manifests/daemon_sets.py"
DAEMONS = "daemonset-decisions"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "daemon pods run on nodes with untolerated NoSchedule taints",
        ELIGIBLE,
        "tolerates_all(template.tolerations, hindering),",
        "tolerates_all(template.tolerations, evicting),",
        DAEMONS,
    ),
    Mutant(
        "an untolerated NoSchedule taint removes daemon pods",
        ELIGIBLE,
        "tolerates_all(template.tolerations, evicting),",
        "tolerates_all(template.tolerations, hindering),",
        DAEMONS,
    ),
    Mutant(
        "PreferNoSchedule keeps daemon pods off",
        ELIGIBLE,
        "if taint.effect in (NO_SCHEDULE, NO_EXECUTE))",
        "if taint.effect)",
        DAEMONS,
    ),
    Mutant(
        "daemon pods ignore their nodeSelector",
        ELIGIBLE,
        "if not _is_selected(template, node):",
        "if not node.name:",
        DAEMONS,
    ),
    Mutant(
        "daemon pods do not tolerate memory pressure",
        DAEMON_SETS,
        '"memory-pressure", ',
        "",
        DAEMONS,
    ),
    Mutant(
        "a terminating daemon pod does not hold its successor up",
        ON_NODES,
        "if where.should_run and not known:",
        "if where.should_run and not any(not pod.is_ending for pod in known):",
        DAEMONS,
    ),
    Mutant(
        "finished pods that are being deleted still count",
        ON_NODES,
        "if pod.phase == ALIVE or not pod.is_ending)",
        "if pod.phase)",
        DAEMONS,
    ),
    Mutant(
        "the newest of several daemon pods stays",
        ON_NODES,
        "key=lambda pod: pod.rank)",
        "key=lambda pod: pod.rank, reverse=True)",
        DAEMONS,
    ),
    Mutant(
        "finished daemon pods are left",
        ON_NODES,
        "if pod.phase != ALIVE)",
        "if not pod.phase)",
        DAEMONS,
    ),
    Mutant(
        "a surging DaemonSet keeps an old pod that is not ready",
        ON_NODES,
        "(not old[0].is_ready or new[0].is_available)",
        "new[0].is_available",
        DAEMONS,
    ),
    Mutant(
        "a surging DaemonSet waits for terminating pods",
        ON_NODES,
        "return NodeWork(creates=where.should_run, deletes=finished)",
        "return NodeWork(deletes=finished)",
        DAEMONS,
    ),
    Mutant(
        "an update surges where pods should not run",
        UPDATE,
        "(creates if group.where.should_run else deletes).append(index)",
        "creates.append(index)",
        DAEMONS,
    ),
    Mutant(
        "old pods that are unavailable wait for the update's turn",
        UPDATE,
        "elif not old[0].is_available:\n            replaced",
        "elif not old:\n            replaced",
        DAEMONS,
    ),
    Mutant(
        "old pods leave unsuited nodes before others are available",
        UPDATE,
        "min(sunset_nodes, max(0, available - limits.desired)),",
        "sunset_nodes,",
        DAEMONS,
    ),
    Mutant(
        "limits of daemon updates round down",
        UPDATE,
        "return -(-number * desired // 100) if percent else number",
        "return number * desired // 100 if percent else number",
        DAEMONS,
    ),
    Mutant(
        "old pods that are unavailable leave the limit of daemon updates as it is",
        UPDATE,
        "OLD_UNAVAILABLE_COUNT_SINCE = (1, 27)",
        "OLD_UNAVAILABLE_COUNT_SINCE = (9, 99)",
        DAEMONS,
    ),
    Mutant(
        "a surged pod that is not available leaves room for another",
        UPDATE,
        "surging += 0 if new[0].is_available else group.nodes",
        "surging += 0",
        DAEMONS,
    ),
)
