// The bubble of fake time needs the timers of today's Go, which a go.mod this old turns off.
//
//go:debug asynctimerchan=0
package main

import (
	"context"
	_ "unsafe" // for go:linkname

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle/scheduler"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
)

type controller = scheduler.NoExecuteTaintManager

// These have the fields of upstream's nodeUpdateItem and podUpdateItem.
type nodeUpdate struct{ nodeName string }
type podUpdate struct{ podName, podNamespace, nodeName string }

//go:linkname handleNodeUpdate k8s.io/kubernetes/pkg/controller/nodelifecycle/scheduler.(*NoExecuteTaintManager).handleNodeUpdate
func handleNodeUpdate(eviction *controller, ctx context.Context, item nodeUpdate)

//go:linkname handlePodUpdate k8s.io/kubernetes/pkg/controller/nodelifecycle/scheduler.(*NoExecuteTaintManager).handlePodUpdate
func handlePodUpdate(eviction *controller, ctx context.Context, item podUpdate)

func newEviction(client kubernetes.Interface, factory informers.SharedInformerFactory, pods cache.Indexer) *controller {
	onNode := func(string) ([]*corev1.Pod, error) { // all pods are on the one node there is
		var found []*corev1.Pod
		for _, object := range pods.List() {
			found = append(found, object.(*corev1.Pod))
		}
		return found, nil
	}
	informer := factory.Core().V1()
	return scheduler.NewNoExecuteTaintManager(
		context.Background(), client, informer.Pods().Lister(), informer.Nodes().Lister(), onNode)
}

func newAdmission() *defaulttolerationseconds.Plugin {
	return defaulttolerationseconds.NewDefaultTolerationSeconds()
}
