package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	metricsclient "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	resourceclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
)

const sampleWindow = 15 * time.Second

// foreignCase has owners of pods in one namespace and beside it, and autoscalers of some of them.
type foreignCase struct {
	Owners []struct {
		Elsewhere bool                          `json:"elsewhere"` // in another namespace
		Labels    map[string]string             `json:"labels"`    // of its pods, with those that controllers add
		Selector  *metav1.LabelSelector         `json:"selector"`  // of what has a scale
		Spec      corev1.PodSpec                `json:"spec"`
		Use       map[corev1.ResourceName]int64 `json:"use"` // of one running pod, in thousandths
		Pods      []facts                       `json:"pods"`
	} `json:"owners"`
	Autoscalers []struct {
		Target   int                                       `json:"target"` // number of the owner
		Replicas int32                                     `json:"replicas"`
		Spec     autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`
	} `json:"autoscalers"`
}

// counted is what one autoscaler proposes in two rounds of all of them; nothing where it refuses or fails.
type counted struct {
	First  *int32 `json:"1"`
	Second *int32 `json:"2"`
}

// foreign lets the autoscalers of a case compute their replicas one after the other, twice: a selector is known to
// others from the first time on.
func (w *world) foreign(line []byte) (any, error) {
	var given foreignCase
	if err := json.Unmarshal(line, &given); err != nil {
		return nil, err
	}
	w.cases++
	w.client.ClearActions()
	pods, samples := w.owned(given)
	if err := w.setPods(pods); err != nil {
		return nil, err
	}
	w.metrics.real = metricsclient.NewRESTMetricsClient(&podMetrics{samples: samples}, nil, nil)
	answers := make([]counted, len(given.Autoscalers))
	for round := 0; round < 2; round++ {
		for number, each := range given.Autoscalers {
			hpa, err := w.autoscaler(fmt.Sprintf("%s-%d", target, number), each.Spec)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				enqueue(w.controller, hpa)
				defer forget(w.controller, hpa)
			}
			replicas, err := w.total(hpa, each.Replicas, given.Owners[each.Target].Selector)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				answers[number].First = replicas
			} else {
				answers[number].Second = replicas
			}
		}
	}
	return answers, nil
}

// total is what all metrics together ask for; nil if the autoscaler is not active.
func (w *world) total(hpa *autoscalingv2.HorizontalPodAutoscaler, replicas int32, selected *metav1.LabelSelector) (*int32, error) {
	selector, err := metav1.LabelSelectorAsSelector(selected)
	if err != nil {
		return nil, err
	}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}, Status: autoscalingv1.ScaleStatus{Replicas: replicas, Selector: selector.String()}}
	count, _, _, _, err := combined(w.controller, context.Background(), hpa, scale, hpa.Spec.Metrics)
	if active(hpa) {
		return &count, nil
	}
	if err == nil {
		return nil, fmt.Errorf("%s: neither active nor an error", hpa.Name)
	}
	return nil, nil
}

// owned are the pods of all owners, with the metrics of those whose containers run.
func (w *world) owned(given foreignCase) ([]*corev1.Pod, []metricsv1beta1.PodMetrics) {
	var pods []*corev1.Pod
	var samples []metricsv1beta1.PodMetrics
	for number, owner := range given.Owners {
		namespace := w.namespace()
		if owner.Elsewhere {
			namespace += "-elsewhere"
		}
		for group, each := range owner.Pods {
			for _, pod := range w.pods(100*number+group, each, owner.Spec) {
				pod.Namespace, pod.Labels = namespace, owner.Labels
				pods = append(pods, pod)
				if each.Phase == string(corev1.PodRunning) {
					samples = append(samples, sampleOf(pod, owner.Use))
				}
			}
		}
	}
	return pods, samples
}

// sampleOf is what metrics-server tells of a pod whose first container does all the work.
func sampleOf(pod *corev1.Pod, use map[corev1.ResourceName]int64) metricsv1beta1.PodMetrics {
	sample := metricsv1beta1.PodMetrics{Timestamp: metav1.Time{Time: before(0)}, Window: metav1.Duration{Duration: sampleWindow}}
	sample.Namespace, sample.Name, sample.Labels = pod.Namespace, pod.Name, pod.Labels
	for number, container := range pod.Spec.Containers {
		usage := corev1.ResourceList{}
		for name, milli := range use {
			usage[name] = *resource.NewMilliQuantity(milli*int64(1-least(number, 1)), resource.DecimalSI)
		}
		sample.Containers = append(sample.Containers, metricsv1beta1.ContainerMetrics{Name: container.Name, Usage: usage})
	}
	return sample
}

// podMetrics is the resource metrics API over some samples.
type podMetrics struct {
	resourceclient.PodMetricsInterface
	samples   []metricsv1beta1.PodMetrics
	namespace string
}

func (p *podMetrics) PodMetricses(namespace string) resourceclient.PodMetricsInterface {
	return &podMetrics{samples: p.samples, namespace: namespace}
}

func (p *podMetrics) List(_ context.Context, options metav1.ListOptions) (*metricsv1beta1.PodMetricsList, error) {
	selector, err := labels.Parse(options.LabelSelector)
	if err != nil {
		return nil, err
	}
	found := &metricsv1beta1.PodMetricsList{}
	for _, sample := range p.samples {
		if sample.Namespace == p.namespace && selector.Matches(labels.Set(sample.Labels)) {
			found.Items = append(found.Items, sample)
		}
	}
	return found, nil
}
