package main

import (
	"context"
	"errors"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/scale"
	clienttesting "k8s.io/client-go/testing"
	metricsclient "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

// scales is the scale subresource of the one target.
type scales struct {
	scale.ScaleInterface
	current autoscalingv1.Scale
}

func (s *scales) Scales(string) scale.ScaleInterface { return s }

func (s *scales) Get(context.Context, schema.GroupResource, string, metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return s.current.DeepCopy(), nil
}

func (s *scales) Update(_ context.Context, _ schema.GroupResource, written *autoscalingv1.Scale, _ metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	s.current = *written.DeepCopy()
	return written, nil
}

// metrics holds the samples of pods by what is measured: "cpu", "cpu/container", or the name of a pods metric.
// What is not in it cannot be had, as if the metrics API failed.
type metrics struct {
	metricsclient.MetricsClient
	samples map[string]metricsclient.PodMetricsInfo
	real    metricsclient.MetricsClient // over a fake API; none: samples are what is known
}

func (m *metrics) of(name string) (metricsclient.PodMetricsInfo, time.Time, error) {
	samples, known := m.samples[name]
	if !known {
		return nil, time.Time{}, errors.New("no such metric")
	}
	copied := metricsclient.PodMetricsInfo{} // the calculator writes into what it gets
	for pod, sample := range samples {
		copied[pod] = sample
	}
	return copied, time.Now(), nil
}

func (m *metrics) GetResourceMetric(ctx context.Context, resource corev1.ResourceName, namespace string, selector labels.Selector, container string) (metricsclient.PodMetricsInfo, time.Time, error) {
	if m.real != nil {
		return m.real.GetResourceMetric(ctx, resource, namespace, selector, container)
	}
	if container != "" {
		return m.of(string(resource) + "/" + container)
	}
	return m.of(string(resource))
}

func (m *metrics) GetRawMetric(name string, _ string, _ labels.Selector, _ labels.Selector) (metricsclient.PodMetricsInfo, time.Time, error) {
	return m.of(name)
}

// answerWrites keeps the status that the controller writes, and drops its events.
func (w *world) answerWrites() {
	w.client.PrependReactor("update", "horizontalpodautoscalers", func(action clienttesting.Action) (bool, runtime.Object, error) {
		written := action.(clienttesting.UpdateAction).GetObject().(*autoscalingv2.HorizontalPodAutoscaler)
		w.status = *written.Status.DeepCopy()
		return true, written, nil
	})
	w.client.PrependReactor("*", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.Event{}, nil
	})
}

func deployments() meta.RESTMapper {
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{apps})
	mapper.Add(apps.WithKind("Deployment"), meta.RESTScopeNamespace)
	return mapper
}
