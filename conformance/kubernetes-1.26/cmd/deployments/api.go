package main

import (
	"fmt"
	"sort"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

const (
	namespace    = "default"
	desiredNote  = "deployment.kubernetes.io/desired-replicas"
	maxNote      = "deployment.kubernetes.io/max-replicas"
	numberLabel  = "number" // of a ReplicaSet, in the order of creation
	revisionNote = "deployment.kubernetes.io/revision"
)

// api holds the objects that the controller reads and writes. What it writes is in its caches at once.
type api struct {
	client      *fake.Clientset
	deployments cache.Indexer
	sets        cache.Indexer
	pods        cache.Indexer
	created     int     // ReplicaSets so far
	writes      [][]any // number, replicas and annotations of each ReplicaSet written since they were taken
	deleted     []int   // numbers of the ReplicaSets deleted
}

func newAPI() (*api, informers.SharedInformerFactory) {
	client := fake.NewSimpleClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	world := &api{
		client:      client,
		deployments: factory.Apps().V1().Deployments().Informer().GetIndexer(),
		sets:        factory.Apps().V1().ReplicaSets().Informer().GetIndexer(),
		pods:        factory.Core().V1().Pods().Informer().GetIndexer(),
	}
	client.PrependReactor("*", "*", world.react)
	return world, factory
}

// react answers every request of the controller.
func (world *api) react(action testing.Action) (bool, runtime.Object, error) {
	switch action.GetVerb() {
	case "create":
		if set, ok := action.(testing.CreateAction).GetObject().(*appsv1.ReplicaSet); ok {
			set = set.DeepCopy()
			world.add(set)
			world.note(set)
			return true, set.DeepCopy(), nil
		}
	case "update":
		object := action.(testing.UpdateAction).GetObject()
		return true, object, world.update(object)
	case "delete":
		key := namespace + "/" + action.(testing.DeleteAction).GetName()
		object, _, _ := world.sets.GetByKey(key)
		world.deleted = append(world.deleted, number(object.(*appsv1.ReplicaSet)))
		return true, nil, world.sets.Delete(object)
	}
	return true, nil, fmt.Errorf("unexpected request %s %s", action.GetVerb(), action.GetResource().Resource)
}

func (world *api) update(object runtime.Object) error {
	switch written := object.DeepCopyObject().(type) {
	case *appsv1.ReplicaSet:
		object, _, _ := world.sets.Get(written)
		before := object.(*appsv1.ReplicaSet)
		if *before.Spec.Replicas != *written.Spec.Replicas {
			written.Generation++
		}
		if !sameScale(before, written) {
			world.note(written)
		}
		return world.sets.Update(written)
	case *appsv1.Deployment:
		return world.deployments.Update(written)
	}
	return fmt.Errorf("unexpected update of %T", object)
}

// add stores a new ReplicaSet; each one is a second younger than the one before.
func (world *api) add(set *appsv1.ReplicaSet) {
	set.UID = types.UID(fmt.Sprintf("set-%d", world.created))
	set.Generation = 1
	set.CreationTimestamp = metav1.NewTime(time.Unix(int64(world.created), 0))
	set.Labels[numberLabel] = fmt.Sprint(world.created)
	world.created++
	world.sets.Add(set)
}

func (world *api) note(set *appsv1.ReplicaSet) {
	written := []any{number(set), *set.Spec.Replicas, set.Annotations[desiredNote], set.Annotations[maxNote]}
	world.writes = append(world.writes, written)
}

// take returns what was written and deleted since the last time.
func (world *api) take() ([][]any, []int) {
	writes, deleted := world.writes, world.deleted
	world.writes, world.deleted = [][]any{}, []int{}
	return writes, deleted
}

// inOrder returns the ReplicaSets in the order of their creation.
func (world *api) inOrder() []*appsv1.ReplicaSet {
	var sets []*appsv1.ReplicaSet
	for _, object := range world.sets.List() {
		sets = append(sets, object.(*appsv1.ReplicaSet))
	}
	sort.Slice(sets, func(i, j int) bool { return number(sets[i]) < number(sets[j]) })
	return sets
}

func (world *api) deployment() *appsv1.Deployment {
	return world.deployments.List()[0].(*appsv1.Deployment).DeepCopy()
}

// setPods makes a ReplicaSet have a running pod, or none; a finished one is always there and must not matter.
func (world *api) setPods(set *appsv1.ReplicaSet, running bool) {
	for name, phase := range map[string]corev1.PodPhase{"running": corev1.PodRunning, "failed": corev1.PodFailed} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: set.Name + "-" + name, Namespace: namespace, UID: types.UID(set.Name + name), Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		}}
		pod.Status.Phase = phase
		if phase == corev1.PodFailed || running {
			world.pods.Add(pod)
		} else {
			world.pods.Delete(pod)
		}
	}
}

func sameScale(one, other *appsv1.ReplicaSet) bool {
	return *one.Spec.Replicas == *other.Spec.Replicas &&
		one.Annotations[desiredNote] == other.Annotations[desiredNote] && one.Annotations[maxNote] == other.Annotations[maxNote]
}

func number(set *appsv1.ReplicaSet) int {
	var value int
	fmt.Sscan(set.Labels[numberLabel], &value)
	return value
}
