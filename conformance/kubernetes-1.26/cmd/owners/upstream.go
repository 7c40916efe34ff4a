// The bubble of fake time needs the timers of today's Go, which a go.mod this old turns off.
//
//go:debug asynctimerchan=0
package main

import (
	"context"
	"strings"
	"time"
	_ "unsafe" // for go:linkname

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	batchdefaults "k8s.io/kubernetes/pkg/apis/batch/v1"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/statefulset"
)

//go:linkname syncStatefulSet k8s.io/kubernetes/pkg/controller/statefulset.(*StatefulSetController).sync
func syncStatefulSet(controller *statefulset.StatefulSetController, ctx context.Context, key string) error

//go:linkname syncDaemonSet k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).syncDaemonSet
func syncDaemonSet(controller *daemon.DaemonSetsController, ctx context.Context, key string) error

//go:linkname syncJob k8s.io/kubernetes/pkg/controller/job.(*Controller).syncJob
func syncJob(controller *job.Controller, ctx context.Context, key string) (bool, error)

type controllers struct {
	statefulSets *statefulset.StatefulSetController
	daemons      *daemon.DaemonSetsController
	batch        *job.Controller
}

func newControllers(factory informers.SharedInformerFactory, client kubernetes.Interface) controllers {
	apps, core := factory.Apps().V1(), factory.Core().V1()
	daemons, err := daemon.NewDaemonSetsController(
		apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), client,
		flowcontrol.NewBackOff(time.Second, 15*time.Minute))
	exitIf(err)
	batch := job.NewController(core.Pods(), factory.Batch().V1().Jobs(), client)
	sets := statefulset.NewStatefulSetController(
		core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), client)
	return controllers{sets, daemons, batch}
}

func (all *controllers) syncStatefulSet(key string) error {
	return syncStatefulSet(all.statefulSets, context.Background(), key)
}

func (all *controllers) syncDaemonSet(key string) error {
	return syncDaemonSet(all.daemons, context.Background(), key)
}

func (all *controllers) syncJob(key string) error {
	_, err := syncJob(all.batch, context.Background(), key)
	if err != nil && strings.HasPrefix(err.Error(), "failed pod(s) detected") {
		return nil // how this version asks to be called again after a back-off
	}
	return err
}

func templateHash(template *corev1.PodTemplateSpec) string {
	return controller.ComputeHash(template, nil)
}

func defaultJob(given *batchv1.Job) { batchdefaults.SetObjectDefaults_Job(given) }

func defaultStatefulSet(given *appsv1.StatefulSet) { appsdefaults.SetObjectDefaults_StatefulSet(given) }

func defaultDaemonSet(given *appsv1.DaemonSet) { appsdefaults.SetObjectDefaults_DaemonSet(given) }
