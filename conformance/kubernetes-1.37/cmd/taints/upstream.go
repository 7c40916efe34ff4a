package main

import (
	"context"
	"fmt"
	"os"
	_ "unsafe" // for go:linkname

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
)

type controller = tainteviction.Controller

// These have the fields of upstream's nodeUpdateItem and podUpdateItem.
type nodeUpdate struct{ nodeName string }
type podUpdate struct{ podName, podNamespace, nodeName string }

//go:linkname handleNodeUpdate k8s.io/kubernetes/pkg/controller/tainteviction.(*Controller).handleNodeUpdate
func handleNodeUpdate(eviction *controller, ctx context.Context, item nodeUpdate)

//go:linkname handlePodUpdate k8s.io/kubernetes/pkg/controller/tainteviction.(*Controller).handlePodUpdate
func handlePodUpdate(eviction *controller, ctx context.Context, item podUpdate)

func newEviction(client kubernetes.Interface, factory informers.SharedInformerFactory, pods cache.Indexer) *controller {
	err := pods.AddIndexers(cache.Indexers{"spec.nodeName": func(object any) ([]string, error) {
		return []string{object.(*corev1.Pod).Spec.NodeName}, nil
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	informer := factory.Core().V1()
	eviction, err := tainteviction.New(context.Background(), client, informer.Pods(), informer.Nodes(), "taint-eviction")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return eviction
}

func newAdmission() *defaulttolerationseconds.Plugin {
	plugin := defaulttolerationseconds.NewDefaultTolerationSeconds()
	plugin.InspectFeatureGates(nil)
	return plugin
}
