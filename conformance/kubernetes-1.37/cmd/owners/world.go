package main

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

// world holds the objects that the controllers read, and what they create and delete.
type world struct {
	controllers
	lock       sync.Mutex // pods are created in parallel
	sets       cache.Indexer
	daemonSets cache.Indexer
	jobs       cache.Indexer
	revisions  cache.Indexer
	pods       cache.Indexer
	nodes      cache.Indexer
	describe   func(*corev1.Pod) string
	made       decision
}

func newWorld() *world {
	client := fake.NewSimpleClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	apps, core := factory.Apps().V1(), factory.Core().V1()
	world := &world{
		sets:       apps.StatefulSets().Informer().GetIndexer(),
		daemonSets: apps.DaemonSets().Informer().GetIndexer(),
		jobs:       factory.Batch().V1().Jobs().Informer().GetIndexer(),
		revisions:  apps.ControllerRevisions().Informer().GetIndexer(),
		pods:       core.Pods().Informer().GetIndexer(),
		nodes:      core.Nodes().Informer().GetIndexer(),
		describe:   func(*corev1.Pod) string { return "" },
		made:       decision{Create: []string{}, Delete: []string{}},
	}
	client.PrependReactor("*", "*", world.react)
	world.controllers = newControllers(factory, client)
	return world
}

// react stores what is written, except pods: those are only noted.
func (world *world) react(action testing.Action) (bool, runtime.Object, error) {
	world.lock.Lock()
	defer world.lock.Unlock()
	stores := map[string]cache.Indexer{
		"statefulsets": world.sets, "daemonsets": world.daemonSets, "jobs": world.jobs, "controllerrevisions": world.revisions,
	}
	store, isPod := stores[action.GetResource().Resource], action.GetResource().Resource == "pods"
	switch action.GetVerb() {
	case "create":
		object := action.(testing.CreateAction).GetObject()
		if isPod {
			world.made.Create = append(world.made.Create, world.describe(object.(*corev1.Pod)))
			return true, object, nil
		}
		object.(metav1.Object).SetNamespace(namespace) // as the API server does
		return true, object, store.Add(object)
	case "update":
		object := action.(testing.UpdateAction).GetObject()
		if isPod {
			return true, object, nil
		}
		return true, object, store.Update(object)
	case "delete":
		if isPod {
			world.made.Delete = append(world.made.Delete, action.(testing.DeleteAction).GetName())
		}
		return true, nil, nil
	case "patch":
		return true, &corev1.Pod{}, nil
	case "get":
		if store != nil {
			object, _, err := store.GetByKey(namespace + "/" + action.(testing.GetAction).GetName())
			return true, object.(runtime.Object), err
		}
	}
	exitIf(fmt.Errorf("unexpected request %s %s", action.GetVerb(), action.GetResource().Resource))
	return true, nil, nil
}
