package main

import (
	"context"
	"time"
	_ "unsafe" // for go:linkname

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/scale"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/utils/clock"
)

//go:linkname sync k8s.io/kubernetes/pkg/controller/disruption.(*DisruptionController).sync
func sync(controller *disruption.DisruptionController, ctx context.Context, key string) error

func newController(
	factory informers.SharedInformerFactory, client kubernetes.Interface, mapper meta.RESTMapper, scales scale.ScalesGetter,
	resources discovery.DiscoveryInterface, clock clock.WithTicker,
) *disruption.DisruptionController {
	core, apps := factory.Core().V1(), factory.Apps().V1()
	return disruption.NewDisruptionControllerInternal(
		context.Background(), core.Pods(), factory.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), client, mapper, scales, resources, clock, 2*time.Minute)
}
