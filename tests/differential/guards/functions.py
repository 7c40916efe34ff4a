"""The functions that decide where a reduction, a slice or a coarser model applies, by module."""

from __future__ import annotations

GUARDED: dict[str, tuple[str, ...]] = {
    "model/reductions/starts_in_unison.py": (
        "unwatched", "_is_unwatched", "is_settled", "starts_freely", "only_replicasets_delete", "is_evicted_by_taints",
        "check_untouched", "due", "settled", "started",
    ),
    "model/reductions/persistent_steps.py": (
        "taken_alone", "_is_left_alone", "_creates_unseen", "_makes_others_wait",
    ),
    "model/reductions/ends_in_unison.py": ("ending_unseen",),
    "model/reductions/young_pods.py": ("countable", "_is_countable"),
    "model/reductions/without_clocks.py": ("gains_without_clocks", "clockless"),
    "model/reductions/partial_order.py": ("fewer_orders", "orders_of_deploying"),
    "model/reductions/due_starts.py": ("hurried", "_size_at_rest", "act"),
    "intents/monitor.py": ("tells_starts_of", "_waits_for_starts", "tells_ends", "sees_object"),
    "cluster/near_nodes.py": ("agreed",),
    "controllers/scheduler/framework.py": ("_best",),
    "cluster/mentions.py": ("mention_terms", "mention_requirements"),
    "controllers/node_lifecycle.py": ("mention_zones",),
    "controllers/scheduler/mentions.py": (
        "mention_scheduling", "_mention_template", "_mention_volumes", "resources_read",
    ),
    "events/event.py": ("mention", "mention_nodes", "ends_any_time", "hits_several"),
    "intents/predicates.py": ("mention_nodes",),
    "model/layout.py": (
        "mentions", "alike", "_resources_read", "_signature", "_label_facts", "symmetric_domains", "_is_unique",
    ),
    "verify/proofs/slicing.py": (
        "cut", "cut_by_relations", "_kept_whole", "_entangled", "_comes_any_time",
        "_counts_all", "_occurrences", "_relations", "_sharing_nodes", "_may_run_on", "_selecting", "_spread_selectors",
        "_is_spread_hard", "_term_selectors", "_uses", "_sharing_ports", "_sharing_images", "_has_open_claims",
        "_sharing_volumes", "_claims_of", "_counted_together", "_chained", "_read_by", "_is_about",
        "starts_simply", "_is_evicted",
    ),
    "verify/proofs/slices.py": ("meet_at_rest", "_begins_at_rest", "_is_rest", "_comes_to_rest"),
    "verify/proofs/crowd/conditions.py": (
        "find_obstacle", "_may_loop_at_once", "_is_evicted", "find_own_obstacle", "_may_preempt_each_other",
        "has_rules_beside_room",
        "find_guarded",
    ),
    "verify/proofs/crowd/room.py": (
        "_offered", "_crowd", "_most_let_go", "_beside_daemons", "_lost_by", "_uncordoned_early", "_most_wanted",
        "_most_surge", "_most_ending", "_most_daemons", "working", "_rests", "_is_on_target",
        "_is_above_usage",
    ),
    "verify/proofs/crowd/resizing.py": (
        "find_resizing", "_may_agree", "settles", "is_uniform", "largest", "is_patient", "_may_rise", "_ratios",
        "ends_irregular_times",
    ),
    "verify/proofs/crowd/freeing.py": (
        "free", "flatten", "_finds_room", "_ends_unseen", "_may_run_anywhere", "_admits", "_may_rename",
        "_selectors", "_terms",
    ),
    "verify/proofs/crowd/healing.py": ("is_healed", "drifts", "heals_without_end"),
    "verify/proofs/crowd/swaying.py": (
        "find_sway", "_counts_others", "_counted", "_scored_terms", "_is_keyed", "_find_slack", "_range_of",
    ),
    "verify/proofs/crowd/proving.py": ("prove_part", "all_leave", "_leaves", "_answer", "_comes_to_rest", "_certain"),
    "model/reductions/loosened.py": ("_loosened", "_is_certain", "_forgotten"),
    "intents/drained.py": ("show_nodes",),
    "verify/proofs/coarser.py": ("proofs",),
    "verify/proofs/bounds.py": ("held_by_bounds", "_is_bounded", "_has_room", "_always_fits", "_is_even"),
    "verify/proofs/guarded.py": ("only_budgets_decide", "is_guarded", "healthy_demanded"),
    "verify/proofs/sizes.py": ("only_sizes_decide", "is_left_alone", "_written", "_at_start"),
}  # fmt: skip
