package main

import (
	"context"
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/deployment"
)

//go:linkname syncDeployment k8s.io/kubernetes/pkg/controller/deployment.(*DeploymentController).syncDeployment
func syncDeployment(controller *deployment.DeploymentController, ctx context.Context, key string) error

func newController(factory informers.SharedInformerFactory, client kubernetes.Interface) (*deployment.DeploymentController, error) {
	apps := factory.Apps().V1()
	return deployment.NewDeploymentController(
		context.Background(), apps.Deployments(), apps.ReplicaSets(), factory.Core().V1().Pods(), client)
}
