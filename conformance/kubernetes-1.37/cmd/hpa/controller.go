package main

import (
	"context"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
)

// newController is the real controller with the flags' defaults.
func newController(client *fake.Clientset, factory informers.SharedInformerFactory, scales *scales, metrics *metrics) *podautoscaler.HorizontalController {
	return podautoscaler.NewHorizontalController(
		context.Background(), client.CoreV1(), scales, client.AutoscalingV2(), deployments(), metrics,
		factory.Autoscaling().V2().HorizontalPodAutoscalers(), factory.Core().V1().Pods(),
		syncPeriod, 5*time.Minute, tolerance, cpuInitialization, readinessDelay,
	)
}
