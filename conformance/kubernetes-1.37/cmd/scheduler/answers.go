package main

import (
	corev1 "k8s.io/api/core/v1"
)

// Decision is one row per node (a refusal, scores, or 0 for the only feasible node) and the nodes that may be chosen.
type Decision struct {
	Rows   []any `json:"n,omitempty"`
	Chosen []int `json:"c"`
	Failed int   `json:"e,omitempty"` // 1: the cycle ended in an error
}

func decideOne(given *Case) (any, error)        { return decide(given, "") }
func decideWithImages(given *Case) (any, error) { return decide(given, "ImageLocality") }

func decide(given *Case, extra string) (any, error) {
	real, err := realFor(given)
	if err != nil {
		return nil, err
	}
	attempt, failure := real.attempt(given.Pod)
	if failure != nil {
		return Decision{Failed: 1, Chosen: []int{}}, expected(failure)
	}
	rows, err := real.rows(attempt, given.Nodes, extra)
	return Decision{Rows: rows, Chosen: attempt.best(given.Nodes)}, err
}

func (r *Real) rows(attempt *Attempt, nodes []*corev1.Node, extra string) ([]any, error) {
	rows := map[string]any{}
	for _, node := range attempt.feasible {
		rows[node.Node().Name] = 0
	}
	for _, score := range attempt.scores {
		row, err := r.scoresOf(score, extra)
		if err != nil {
			return nil, err
		}
		rows[score.Name] = row
	}
	found := make([]any, len(nodes))
	for i, node := range nodes {
		row, passed := rows[node.Name]
		if !passed {
			row = attempt.refusal(node.Name)
		}
		found[i] = row
	}
	return found, nil
}

// expected lets through failures that are decisions; there is none in this version.
func expected(failure error) error { return failure }

// decideSequence schedules the queue's pods in order and binds each to the first node that may be chosen.
func decideSequence(given *Case) (any, error) {
	real, err := realFor(given)
	if err != nil {
		return nil, err
	}
	pods := given.Pods
	steps := [][]int{}
	for _, pod := range given.Queue {
		attempt, failure := real.attempt(pod)
		if failure != nil {
			if err := expected(failure); err != nil {
				return nil, err
			}
			steps = append(steps, []int{})
			continue
		}
		chosen := attempt.best(given.Nodes)
		steps = append(steps, chosen)
		if len(chosen) > 0 {
			bound := pod.DeepCopy()
			bound.Spec.NodeName = given.Nodes[chosen[0]].Name
			pods = append(pods, bound)
			real.show(pods, given.Nodes)
		}
	}
	return steps, nil
}
