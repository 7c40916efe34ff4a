// The bubble of fake time needs the timers of today's Go, which a go.mod this old turns off.
//
//go:debug asynctimerchan=0
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
		apps.Deployments(), apps.ReplicaSets(), factory.Core().V1().Pods(), client)
}
