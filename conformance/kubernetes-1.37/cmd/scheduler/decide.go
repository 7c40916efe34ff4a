package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	_ "unsafe" // for go:linkname

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

//go:linkname findNodesThatFitPod k8s.io/kubernetes/pkg/scheduler.(*Scheduler).findNodesThatFitPod
func findNodesThatFitPod(sched *scheduler.Scheduler, ctx context.Context, schedFramework framework.Framework,
	state fwk.CycleState, podInfo *framework.QueuedPodInfo) ([]fwk.NodeInfo, framework.Diagnosis, string, error)

// The plugins whose scores are recorded, in this order; all others must be neutral.
var scorers = []string{"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread",
	"InterPodAffinity", "NodeResourcesBalancedAllocation"}

// Attempt is one scheduling cycle up to the choice of a node.
type Attempt struct {
	state    fwk.CycleState
	feasible []fwk.NodeInfo
	statuses *framework.NodeToStatus
	scores   []fwk.NodePluginScores // empty unless there are two feasible nodes
}

// attempt runs the filters and, if more than one node passes, the scores.
func (r *Real) attempt(pod *corev1.Pod) (*Attempt, error) {
	ctx := context.Background()
	podInfo, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	queued := &framework.QueuedPodInfo{PodInfo: podInfo}
	feasible, diagnosis, _, err := findNodesThatFitPod(r.scheduler, ctx, r.framework, state, queued)
	made := &Attempt{state: state, feasible: feasible, statuses: diagnosis.NodeToStatus}
	if err != nil || len(feasible) < 2 {
		return made, err
	}
	if status := r.framework.RunPreScorePlugins(ctx, state, pod, feasible); !status.IsSuccess() {
		return nil, status.AsError()
	}
	scores, status := r.framework.RunScorePlugins(ctx, state, pod, feasible)
	made.scores = scores
	return made, status.AsError()
}

// best returns the places in the case of the nodes that may be chosen.
func (a *Attempt) best(nodes []*corev1.Node) []int {
	totals, highest := map[string]int64{}, int64(0)
	for _, node := range a.feasible {
		totals[node.Node().Name] = 0
	}
	for _, score := range a.scores {
		totals[score.Name] = score.TotalScore
		highest = max(highest, score.TotalScore)
	}
	chosen := []int{}
	for i, node := range nodes {
		if total, passed := totals[node.Name]; passed && total == highest {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// refusal is why a node was not feasible: plugin, reason, 1 if preemption could not help; nil if there is no word on it.
func (a *Attempt) refusal(node string) []any {
	status := a.statuses.Get(node)
	if status == nil {
		return nil
	}
	unresolvable := 0
	if status.Code() == fwk.UnschedulableAndUnresolvable {
		unresolvable = 1
	}
	reasons := slices.Sorted(slices.Values(status.Reasons())) // extended resources come in any order
	return []any{status.Plugin(), strings.Join(reasons, ", "), unresolvable}
}

// scoresOf are the total and the normalised score of each plugin; null for one that was skipped. The score of an
// extra plugin comes last; without one all others must be neutral.
func (r *Real) scoresOf(score fwk.NodePluginScores, extra string) ([]any, error) {
	byName := map[string]int64{}
	for _, one := range score.Scores {
		byName[one.Name] = one.Score / r.weights[one.Name]
	}
	row := []any{score.TotalScore}
	for _, name := range scorers {
		value, known := byName[name]
		if !known {
			row = append(row, nil)
			continue
		}
		row = append(row, value)
		delete(byName, name)
	}
	if extra != "" {
		return append(row, byName[extra]), nil
	}
	for name, value := range byName {
		if value != 0 {
			return nil, fmt.Errorf("%s is not neutral: %d", name, value)
		}
	}
	return row, nil
}
