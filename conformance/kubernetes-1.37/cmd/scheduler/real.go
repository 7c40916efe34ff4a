package main

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// Real is kube-scheduler with one profile, on informers that are filled by hand.
type Real struct {
	scheduler *scheduler.Scheduler
	framework framework.Framework
	snapshot  *internalcache.Snapshot // the one that the plugins read
	informers informers.SharedInformerFactory
	weights   map[string]int64
}

var built = map[string]*Real{} // by profile

// realFor returns the scheduler with the case's profile, showing the case's cluster.
func realFor(given *Case) (*Real, error) {
	real := built[string(given.Profile)]
	if real == nil {
		var err error
		if real, err = build(given.Profile); err != nil {
			return nil, err
		}
		built[string(given.Profile)] = real
	}
	real.fill(given)
	return real, nil
}

// build makes a scheduler whose API server has these objects, which it sees once its informers are started.
func build(profileText json.RawMessage, objects ...runtime.Object) (*Real, error) {
	configuration, err := readProfile(profileText)
	if err != nil {
		return nil, err
	}
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	made, err := scheduler.New(context.Background(), client, factory, nil, profile.NewRecorderFactory(broadcaster),
		scheduler.WithProfiles(configuration.Profiles...), scheduler.WithParallelism(1))
	if err != nil {
		return nil, err
	}
	real := &Real{scheduler: made, informers: factory, weights: map[string]int64{}}
	real.framework = made.Profiles[configuration.Profiles[0].SchedulerName]
	real.snapshot = snapshotOf(made)
	for _, plugin := range real.framework.ListPlugins().Score.Enabled {
		real.weights[plugin.Name] = int64(plugin.Weight)
	}
	return real, nil
}

// readProfile reads the profile as kube-scheduler reads its configuration file.
func readProfile(profileText json.RawMessage) (*config.KubeSchedulerConfiguration, error) {
	if len(profileText) == 0 {
		profileText = json.RawMessage(`{"schedulerName":"default-scheduler"}`)
	}
	text := fmt.Sprintf(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",`+
		`"clientConnection":{"kubeconfig":"none"},"profiles":[%s]}`, profileText)
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		return nil, err
	}
	configuration := object.(*config.KubeSchedulerConfiguration)
	if invalid := validation.ValidateKubeSchedulerConfiguration(configuration); invalid != nil {
		return nil, invalid
	}
	return configuration, nil
}

// snapshotOf reaches the snapshot that New made and gave to the plugins.
func snapshotOf(made *scheduler.Scheduler) *internalcache.Snapshot {
	field := reflect.ValueOf(made).Elem().FieldByName("nodeInfoSnapshot")
	return (*internalcache.Snapshot)(unsafe.Pointer(field.Pointer()))
}

// fill replaces what the scheduler sees by the objects of the case.
func (r *Real) fill(given *Case) {
	r.show(given.Pods, given.Nodes)
	replace(r.informers.Core().V1().Namespaces().Informer(), given.Namespaces)
	replace(r.informers.Apps().V1().ReplicaSets().Informer(), given.ReplicaSets)
	replace(r.informers.Policy().V1().PodDisruptionBudgets().Informer(), given.Budgets)
	replace(r.informers.Core().V1().Pods().Informer(), given.Pods)
}

func (r *Real) show(pods []*corev1.Pod, nodes []*corev1.Node) {
	*r.snapshot = *internalcache.NewSnapshot(pods, nodes)
}

func replace[T any](informer cache.SharedIndexInformer, objects []T) {
	list := make([]any, len(objects))
	for i, object := range objects {
		list[i] = object
	}
	if err := informer.GetIndexer().Replace(list, ""); err != nil {
		panic(err)
	}
}
