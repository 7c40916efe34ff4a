"""The functions that decide where a reduction, a slice or a coarser model applies, by module."""

from __future__ import annotations

GUARDED: dict[str, tuple[str, ...]] = {
    "model/reductions/starts_in_unison.py": (
        "find_unwatched", "_is_unwatched", "is_settled", "starts_freely", "only_replicasets_delete",
        "is_evicted_by_taints",
        "check_untouched", "due", "settle", "start",
    ),
    "model/reductions/persistent_steps.py": (
        "find_taken_alone", "_is_left_alone", "_creates_unseen", "_makes_others_wait",
    ),
    "model/reductions/ends_in_unison.py": ("ending_unseen",),
    "model/reductions/young_pods.py": ("countable", "_is_countable"),
    "model/reductions/without_clocks.py": ("gains_without_clocks", "clockless"),
    "model/reductions/partial_order.py": ("fewer_orders", "orders_of_deploying"),
    "model/reductions/due_starts.py": ("find_immediate", "_size_at_rest", "act"),
    "intents/monitor.py": ("tells_starts_of", "_waits_for_starts", "tells_ends", "sees_object"),
    "cluster/nodes/near_nodes.py": ("agree",),
    "controllers/scheduler/framework.py": ("_best",),
    "cluster/loops/mentions.py": ("mention_affinity", "mention_terms", "mention_requirements"),
    "controllers/node_lifecycle.py": ("mention_zones",),
    "controllers/scheduler/mentions.py": (
        "mention_scheduling", "_mention_template", "mention_volumes", "resources_read",
    ),
    "events/event.py": ("mention", "mention_nodes", "ends_any_time", "hits_several"),
    "intents/predicates/asked.py": ("mention_nodes",),
    "model/layout.py": (
        "mentions", "_usual", "mention_event", "find_left_out",
        "alike", "_resources_read", "_signature", "_label_facts", "symmetric_domains", "_is_unique",
    ),
    "verify/proofs/slicing.py": (
        "cut", "cut_by_relations", "_find_reason_whole", "_find_entanglement", "_comes_any_time",
        "_counts_all", "_occurrences", "_relations", "_relate", "_sharing_nodes", "_may_run_on", "_selecting",
        "_spread_selectors", "_is_spread_hard", "_term_selectors", "_uses", "_sharing_ports", "_sharing_images",
        "_has_open_claims", "_sharing_volumes", "_sharing_claims_of_ordinals", "_claims_of", "_list_counted_together",
        "_list_chained", "_read_by", "_is_about",
        "starts_simply", "_is_evicted",
    ),
    "verify/proofs/slices.py": ("meet_at_rest", "_begins_at_rest", "_is_rest", "_comes_to_rest"),
    "verify/proofs/crowd/conditions.py": (
        "find_obstacle", "_may_loop_at_once", "_is_evicted", "find_own_obstacle", "_may_preempt_each_other",
        "has_rules_beside_room",
        "find_guarded",
    ),
    "verify/proofs/crowd/room.py": (
        "_sum_offered", "_may_be_on", "_crowd", "_most_let_go", "_beside_daemons", "_count_lost_by",
        "_count_uncordoned_early", "_most_wanted", "_most_surge", "_most_ending", "_most_daemons",
        "working", "_rests", "_is_on_target", "_is_above_usage",
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
        "find_sway", "_counts_others", "_find_counted", "_list_scored_terms", "_is_keyed", "_find_slack", "_range_of",
    ),
    "verify/proofs/crowd/proving.py": (
        "prove_part", "follow_one_pod", "_at_rest", "_find_subjects", "all_leave", "_leaves", "_answer",
        "_comes_to_rest",
        "_certain",
    ),
    "verify/proofs/crowd/pod_by_pod.py": (
        "find_asked_of_pod", "find_needs", "may_be_resized", "find_least", "_live_alone",
        "looks_at_pods", "_is_known", "_rolls_out_simply",
    ),
    "verify/proofs/crowd/job_by_job.py": ("_live_alone",),
    "verify/strategies/parts.py": ("_find_lone_pods",),
    "verify/strategies/pod_by_pod.py": ("attempt",),
    "intents/kind.py": ("counts_in_the_end",),
    "model/reductions/loosened.py": ("_fill", "_empty", "_bindings", "_is_certain", "_find_forgotten"),
    "intents/facts/drained.py": ("show_nodes",),
    "verify/proofs/coarser.py": ("proofs",),
    "verify/proofs/bounds.py": ("prove_by_bounds", "_is_bounded", "_has_room", "_always_fits", "is_even"),
    "verify/proofs/guarded.py": ("only_budgets_decide", "is_guarded", "healthy_demanded"),
    "verify/proofs/sizes.py": ("only_sizes_decide", "is_left_alone", "_list_written", "_at_start"),
}  # fmt: skip
