package main

import (
	"context"
	"slices"
	_ "unsafe" // for go:linkname

	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

//go:linkname findCandidates k8s.io/kubernetes/pkg/scheduler/framework/preemption.(*Evaluator).findCandidates
func findCandidates(ev *preemption.Evaluator, ctx context.Context, state fwk.CycleState, allNodes []fwk.NodeInfo,
	pod *corev1.Pod, m fwk.NodeToStatusReader) ([]preemption.Candidate, *framework.NodeToStatus, error)

// Preemption is what DefaultPreemption finds for a pod that fits nowhere.
type Preemption struct {
	Fits       []int  `json:"f,omitempty"` // the pod fits: nodes that may be chosen; nothing else is asked
	Ineligible string `json:"i,omitempty"` // why the pod may not preempt
	Candidates []any  `json:"k,omitempty"` // node, victims by importance, violations of disruption budgets
	Best       []int  `json:"b,omitempty"` // candidates' nodes that may be chosen
}

// drawings is how often two candidates are drawn against each other: equal ones are taken in the random order of a map.
const drawings = 40

func decidePreemption(given *Case) (any, error) {
	real, err := realFor(given)
	if err != nil {
		return nil, err
	}
	attempt, err := real.attempt(given.Pod)
	if err != nil {
		return nil, err
	}
	if len(attempt.feasible) > 0 {
		return Preemption{Fits: attempt.best(given.Nodes)}, nil
	}
	ctx := context.Background()
	plugin, err := defaultpreemption.New(ctx, &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10,
		MinCandidateNodesAbsolute: 100}, real.framework, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return nil, err
	}
	if eligible, reason := plugin.PodEligibleToPreemptOthers(ctx, given.Pod, nil); !eligible {
		return Preemption{Ineligible: reason}, nil
	}
	nodes, err := real.framework.MutableSnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, err
	}
	found, _, err := findCandidates(plugin.Evaluator, ctx, attempt.state, nodes, given.Pod, attempt.statuses)
	if err != nil {
		return nil, err
	}
	return describe(given, found, func(some []preemption.Candidate) string {
		return plugin.Evaluator.SelectCandidate(ctx, some).Name()
	}), nil
}

// describe names the candidates by their nodes' places in the case, and those that may be picked.
func describe(given *Case, found []preemption.Candidate, pick func([]preemption.Candidate) string) Preemption {
	answer := Preemption{}
	if len(found) == 0 {
		return answer
	}
	first := pick(found)
	chosen := found[slices.IndexFunc(found, func(one preemption.Candidate) bool { return one.Name() == first })]
	for i, node := range given.Nodes {
		at := slices.IndexFunc(found, func(one preemption.Candidate) bool { return one.Name() == node.Name })
		if at < 0 {
			continue
		}
		victims := found[at].Victims()
		answer.Candidates = append(answer.Candidates, []any{i, given.places(victims.Pods), victims.NumPDBViolations})
		if node.Name == first || mayBeat(found[at], chosen, pick) {
			answer.Best = append(answer.Best, i)
		}
	}
	return answer
}

// mayBeat is true if the candidate is sometimes picked before the chosen one, which means that they are equal.
func mayBeat(one, chosen preemption.Candidate, pick func([]preemption.Candidate) string) bool {
	for range drawings {
		if pick([]preemption.Candidate{one, chosen}) == one.Name() {
			return true
		}
	}
	return false
}

// places are the pods' places in the case.
func (c *Case) places(pods []*corev1.Pod) []int {
	found := []int{}
	for _, pod := range pods {
		found = append(found, slices.IndexFunc(c.Pods, func(one *corev1.Pod) bool { return one.UID == pod.UID }))
	}
	return found
}
