package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	metricsclient "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

type decisionCase struct {
	Window      int                    `json:"window"` // seconds that a sample averages over
	Specs       []corev1.PodSpec       `json:"specs"`
	Pods        []facts                `json:"pods"`
	Samples     map[string][]*[2]int64 `json:"samples"` // for each group of pods: usage in thousandths, age in seconds
	Autoscalers []struct {
		Replicas int32                                     `json:"replicas"`
		Spec     autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`
	} `json:"autoscalers"`
}

// asked is what one autoscaler's metrics propose: replicas and measured value of each, then of all together;
// nothing where there is an error.
type asked struct {
	Metrics  []*[2]int64 `json:"m"`
	Replicas *int32      `json:"r"`
}

// decisions answers for each autoscaler of the case, each asked alone.
func (w *world) decisions(line []byte) (any, error) {
	var given decisionCase
	if err := json.Unmarshal(line, &given); err != nil {
		return nil, err
	}
	w.cases++
	w.client.ClearActions()
	if err := w.setPods(w.podsOf(given)); err != nil {
		return nil, err
	}
	w.metrics.samples = samplesOf(given)
	answers := []asked{}
	for number, each := range given.Autoscalers {
		answer, err := w.ask(fmt.Sprintf("%s-%d", target, number), each.Replicas, each.Spec)
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

func (w *world) podsOf(given decisionCase) []*corev1.Pod {
	var pods []*corev1.Pod
	for group, each := range given.Pods {
		pods = append(pods, w.pods(group, each, given.Specs[each.Spec])...)
	}
	return pods
}

func samplesOf(given decisionCase) map[string]metricsclient.PodMetricsInfo {
	samples := map[string]metricsclient.PodMetricsInfo{}
	for name, values := range given.Samples {
		samples[name] = metricsclient.PodMetricsInfo{}
		for group, value := range values {
			for number := 0; value != nil && number < given.Pods[group].Count; number++ {
				samples[name][podName(group, number)] = metricsclient.PodMetric{
					Timestamp: before(int(value[1])), Window: time.Duration(given.Window) * time.Second, Value: value[0],
				}
			}
		}
	}
	return samples
}

// ask is what the real controller computes; its selector is taken back afterwards, two would be ambiguous.
func (w *world) ask(name string, replicas int32, spec autoscalingv2.HorizontalPodAutoscalerSpec) (asked, error) {
	hpa, err := w.autoscaler(name, spec)
	if err != nil {
		return asked{}, err
	}
	enqueue(w.controller, hpa)
	defer forget(w.controller, hpa)
	selector := labels.SelectorFromSet(labels.Set{"app": target})
	answer := asked{Metrics: []*[2]int64{}}
	for _, metric := range hpa.Spec.Metrics {
		var status autoscalingv2.MetricStatus
		count, _, _, _, err := proposal(w.controller, context.Background(), hpa.DeepCopy(), metric, replicas, replicas, selector, &status)
		if err != nil {
			answer.Metrics = append(answer.Metrics, nil)
			continue
		}
		answer.Metrics = append(answer.Metrics, &[2]int64{int64(count), measured(status)})
	}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}, Status: autoscalingv1.ScaleStatus{Replicas: replicas, Selector: selector.String()}}
	count, _, _, _, err := combined(w.controller, context.Background(), hpa, scale, hpa.Spec.Metrics)
	if active(hpa) {
		answer.Replicas = &count // newer versions report a failed metric and go on with the others
	} else if err == nil {
		return asked{}, fmt.Errorf("%s: neither active nor an error", name)
	}
	return answer, nil
}

func measured(status autoscalingv2.MetricStatus) int64 {
	var current autoscalingv2.MetricValueStatus
	switch status.Type {
	case autoscalingv2.ResourceMetricSourceType:
		current = status.Resource.Current
	case autoscalingv2.ContainerResourceMetricSourceType:
		current = status.ContainerResource.Current
	case autoscalingv2.PodsMetricSourceType:
		current = status.Pods.Current
	}
	if current.AverageUtilization != nil {
		return int64(*current.AverageUtilization)
	}
	return current.AverageValue.MilliValue()
}

func active(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	for _, condition := range hpa.Status.Conditions {
		if condition.Type == autoscalingv2.ScalingActive {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
