package main

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	discovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	scales "k8s.io/client-go/scale/fake"
	"k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/disruption"
	clock "k8s.io/utils/clock/testing"
)

// world holds the objects that the controller reads and writes.
type world struct {
	controller             *disruption.DisruptionController
	pods                   cache.Indexer
	budgets                cache.Indexer
	deployments            cache.Indexer
	sets                   cache.Indexer
	statefulSets           cache.Indexer
	replicationControllers cache.Indexer
	scales                 map[string]*autoscalingv1.Scale
}

func newWorld() *world {
	client := fake.NewSimpleClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	core, apps := factory.Core().V1(), factory.Apps().V1()
	world := &world{
		pods:                   core.Pods().Informer().GetIndexer(),
		budgets:                factory.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer(),
		deployments:            apps.Deployments().Informer().GetIndexer(),
		sets:                   apps.ReplicaSets().Informer().GetIndexer(),
		statefulSets:           apps.StatefulSets().Informer().GetIndexer(),
		replicationControllers: core.ReplicationControllers().Informer().GetIndexer(),
	}
	client.PrependReactor("*", "*", world.write)
	scaleClient := &scales.FakeScaleClient{}
	scaleClient.AddReactor("get", "*", world.getScale)
	world.controller = newController(factory, client, mapper(), scaleClient, resources(), clock.NewFakeClock(now))
	return world
}

func (world *world) reset() {
	for _, store := range []cache.Indexer{
		world.pods, world.budgets, world.deployments, world.sets, world.statefulSets, world.replicationControllers,
	} {
		exitIf(store.Replace(nil, ""))
	}
	world.scales = map[string]*autoscalingv1.Scale{}
}

// write stores the only thing that the controller writes, a budget's status.
func (world *world) write(action testing.Action) (bool, runtime.Object, error) {
	update, ok := action.(testing.UpdateAction)
	if !ok || action.GetResource().Resource != "poddisruptionbudgets" {
		exitIf(fmt.Errorf("unexpected request %s %s", action.GetVerb(), action.GetResource().Resource))
	}
	return true, update.GetObject(), world.budgets.Update(update.GetObject())
}

func (world *world) getScale(action testing.Action) (bool, runtime.Object, error) {
	name := action.(testing.GetAction).GetName()
	if found, ok := world.scales[name]; ok {
		return true, found, nil
	}
	return true, nil, errors.NewNotFound(action.GetResource().GroupResource(), name)
}

func newScale(name string, uid types.UID, replicas int32) *autoscalingv1.Scale {
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: uid},
		Spec:       autoscalingv1.ScaleSpec{Replicas: replicas},
	}
}

// mapper knows the resources of all kinds.
func mapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind, version := range apiVersions {
		parsed, err := schema.ParseGroupVersion(version)
		exitIf(err)
		mapper.Add(parsed.WithKind(kind), meta.RESTScopeNamespace)
	}
	return mapper
}

// resources tells which kinds implement the scale subresource.
func resources() *discovery.FakeDiscovery {
	subresource := func(plural string) metav1.APIResource {
		return metav1.APIResource{Name: plural + "/scale", Group: "autoscaling", Version: "v1", Kind: "Scale"}
	}
	apps := []metav1.APIResource{subresource("deployments"), subresource("replicasets"), subresource("statefulsets")}
	return &discovery.FakeDiscovery{Fake: &testing.Fake{Resources: []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{subresource("replicationcontrollers")}},
		{GroupVersion: "apps/v1", APIResources: apps},
		{GroupVersion: "batch/v1"},
		{GroupVersion: "example.com/v1", APIResources: []metav1.APIResource{subresource("databases")}},
	}}}
}
