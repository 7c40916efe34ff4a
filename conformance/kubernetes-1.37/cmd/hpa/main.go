// Command hpa records what the real HorizontalPodAutoscaler controller decides: hpa-decisions asks it for the proposal
// of each metric and for all of them together, hpa-series lets it sync an autoscaler again and again on a fake clock,
// hpa-foreign shows it pods of several owners, some of which several autoscalers select.
//
// The module of the other version compiles the same files, by links; only controller.go differs.
package main

import (
	"context"
	"fmt"
	"io"
	"time"
	_ "unsafe" // for go:linkname

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"

	"kubeproof.dev/conformance/shared/bubble"
	"kubeproof.dev/conformance/shared/lines"
)

const (
	syncPeriod        = 15 * time.Second
	tolerance         = 0.1
	cpuInitialization = 5 * time.Minute
	readinessDelay    = 30 * time.Second
)

//go:linkname enqueue k8s.io/kubernetes/pkg/controller/podautoscaler.(*HorizontalController).enqueueHPA
func enqueue(*podautoscaler.HorizontalController, interface{})

//go:linkname forget k8s.io/kubernetes/pkg/controller/podautoscaler.(*HorizontalController).deleteHPA
func forget(*podautoscaler.HorizontalController, interface{})

//go:linkname reconcile k8s.io/kubernetes/pkg/controller/podautoscaler.(*HorizontalController).reconcileAutoscaler
func reconcile(*podautoscaler.HorizontalController, context.Context, *autoscalingv2.HorizontalPodAutoscaler, string) error

//go:linkname proposal k8s.io/kubernetes/pkg/controller/podautoscaler.(*HorizontalController).computeReplicasForMetric
func proposal(*podautoscaler.HorizontalController, context.Context, *autoscalingv2.HorizontalPodAutoscaler, autoscalingv2.MetricSpec, int32, int32, labels.Selector, *autoscalingv2.MetricStatus) (int32, string, time.Time, autoscalingv2.HorizontalPodAutoscalerCondition, error)

//go:linkname combined k8s.io/kubernetes/pkg/controller/podautoscaler.(*HorizontalController).computeReplicasForMetrics
func combined(*podautoscaler.HorizontalController, context.Context, *autoscalingv2.HorizontalPodAutoscaler, *autoscalingv1.Scale, []autoscalingv2.MetricSpec) (int32, string, []autoscalingv2.MetricStatus, time.Time, error)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	world := newWorld()
	corpora := map[string]lines.Decide{"hpa-decisions": world.decisions, "hpa-series": world.series, "hpa-foreign": world.foreign}
	decide, known := corpora[lines.Corpus()]
	if !known {
		panic(fmt.Sprintf("unknown corpus %q", lines.Corpus()))
	}
	bubble.Run(func() { lines.Run(decide) })
}

// world is the controller and everything it talks to. Its goroutines run outside the bubble; the decisions inside.
type world struct {
	client     *fake.Clientset
	factory    informers.SharedInformerFactory
	scales     *scales
	metrics    *metrics
	controller *podautoscaler.HorizontalController
	cases      int
	status     autoscalingv2.HorizontalPodAutoscalerStatus // as last written
}

func newWorld() *world {
	made := &world{client: fake.NewSimpleClientset(), scales: &scales{}, metrics: &metrics{}}
	made.factory = informers.NewSharedInformerFactory(made.client, 0)
	made.answerWrites()
	made.controller = newController(made.client, made.factory, made.scales, made.metrics)
	return made
}
