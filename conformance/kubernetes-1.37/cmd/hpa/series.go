package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metricsclient "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

// A sync takes a little time and the next one comes a period after its end.
const syncTakes = time.Millisecond

type seriesCase struct {
	Spec     autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`
	Pod      corev1.PodSpec                            `json:"pod"`
	Replicas int32                                     `json:"replicas"` // of the target at the beginning
	After    []int                                     `json:"after"`    // seconds before each sync
	Load     map[string][]*int64                       `json:"load"`     // what all pods use in sum; none: the metric fails
	Others   map[string]int32                          `json:"others"`   // by sync: replicas set by somebody else before it
	Pending  map[string]int                            `json:"pending"`  // by sync: pods that wait for a node
	Missing  map[string]int                            `json:"missing"`  // by sync: running pods without metrics
}

// followed is what the controller did: replicas after each sync, and a letter for what it says in its conditions.
type followed struct {
	Replicas []int32 `json:"n"`
	Able     string  `json:"able"`
	Limited  string  `json:"limited"`
}

// letters stand for the reasons of conditions; a condition that a sync does not set is "-".
var letters = map[string]string{
	"SucceededGetScale": "g", "SucceededRescale": "s", "ReadyForNewScale": "r", "ScaleDownStabilized": "d", "ScaleUpStabilized": "u",
	"DesiredWithinRange": ".", "TooManyReplicas": "M", "TooFewReplicas": "F", "ScaleUpLimit": "U", "ScaleDownLimit": "D",
}

// series lets the controller sync the autoscaler as often as the case says.
func (w *world) series(line []byte) (any, error) {
	var given seriesCase
	if err := json.Unmarshal(line, &given); err != nil {
		return nil, err
	}
	w.cases++
	hpa, err := w.autoscaler(target, given.Spec)
	if err != nil {
		return nil, err
	}
	enqueue(w.controller, hpa)
	defer forget(w.controller, hpa)
	w.scales.current = autoscalingv1.Scale{}
	w.scales.current.Spec.Replicas = given.Replicas
	w.scales.current.Status.Selector = "app=" + target
	told := followed{}
	for sync, seconds := range given.After {
		w.client.ClearActions()
		time.Sleep(time.Duration(seconds)*time.Second + syncTakes)
		if err := w.sync(hpa, given, sync); err != nil {
			return nil, err
		}
		told.Replicas = append(told.Replicas, w.scales.current.Spec.Replicas)
		if !told.add(hpa) {
			return nil, fmt.Errorf("sync %d: conditions %v", sync, hpa.Status.Conditions)
		}
	}
	return told, nil
}

// sync is one sync with the pods and metrics of its moment. Errors of the controller are decisions like others: it
// tried and changed nothing.
func (w *world) sync(hpa *autoscalingv2.HorizontalPodAutoscaler, given seriesCase, number int) error {
	at := strconv.Itoa(number)
	if replicas, changed := given.Others[at]; changed {
		w.scales.current.Spec.Replicas = replicas
	}
	count := int(w.scales.current.Spec.Replicas)
	w.scales.current.Status.Replicas = int32(count)
	pending := least(given.Pending[at], count)
	missing := least(given.Missing[at], count-pending)
	if err := w.setPods(w.mixed(given.Pod, pending, count-pending)); err != nil {
		return err
	}
	w.metrics.samples = shared(given.Load, number, count-pending-missing)
	hpa.Status.Conditions = nil // to see which ones this sync sets
	_ = reconcile(w.controller, context.Background(), hpa, hpa.Namespace+"/"+hpa.Name)
	hpa.Status = w.status
	return nil
}

// mixed are pods without a node, and pods that have been running and ready for an hour.
func (w *world) mixed(spec corev1.PodSpec, pending, running int) []*corev1.Pod {
	hour := 3600
	waiting := w.pods(0, facts{Count: pending, Phase: "Pending"}, spec)
	ready := w.pods(1, facts{Count: running, Phase: "Running", Age: &hour, Ready: "True", Changed: hour}, spec)
	return append(waiting, ready...)
}

// shared is each metric's load in equal parts on the first so many running pods.
func shared(load map[string][]*int64, sync, pods int) map[string]metricsclient.PodMetricsInfo {
	samples := map[string]metricsclient.PodMetricsInfo{}
	for name, loads := range load {
		if loads[sync] == nil {
			continue
		}
		samples[name] = metricsclient.PodMetricsInfo{}
		for number := 0; number < pods; number++ {
			samples[name][podName(1, number)] = metricsclient.PodMetric{Timestamp: time.Now(), Window: syncPeriod, Value: *loads[sync] / int64(pods)}
		}
	}
	return samples
}

// add notes the conditions; false if they have a reason without a letter.
func (f *followed) add(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	able, limited := reason(hpa, autoscalingv2.AbleToScale), reason(hpa, autoscalingv2.ScalingLimited)
	f.Able, f.Limited = f.Able+able, f.Limited+limited
	return able != "" && limited != ""
}

func reason(hpa *autoscalingv2.HorizontalPodAutoscaler, kind autoscalingv2.HorizontalPodAutoscalerConditionType) string {
	for _, condition := range hpa.Status.Conditions {
		if condition.Type == kind {
			return letters[condition.Reason]
		}
	}
	return "-"
}

func least(one, other int) int {
	if one < other {
		return one
	}
	return other
}
