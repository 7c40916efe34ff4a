// Command disruption records the status that the real disruption controller writes to a PodDisruptionBudget.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"kubeproof.dev/conformance/shared/lines"
)

const namespace = "default"

var now = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

type given struct {
	Budget policyv1.PodDisruptionBudget `json:"budget"`
	Owners []owner                      `json:"owners"`
	Pods   []pod                        `json:"pods"`
}

type owner struct {
	Kind     string `json:"kind"`
	Replicas int32  `json:"replicas"`
	Owner    *int   `json:"owner"` // of a ReplicaSet: its Deployment
	Gone     bool   `json:"gone"`  // the object does not exist any longer
	Anew     bool   `json:"anew"`  // the object was deleted and created again
}

type pod struct {
	App     string          `json:"app"`
	Space   string          `json:"space"` // namespace, if another one
	Owner   *int            `json:"owner"`
	Phase   corev1.PodPhase `json:"phase"`
	Ready   bool            `json:"ready"`
	Ending  bool            `json:"ending"`
	Evicted *int64          `json:"evicted"` // seconds since an eviction was granted
}

// apiVersions has the kinds of owners; all but DaemonSet, Job and Table have a scale.
var apiVersions = map[string]string{
	"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1",
	"ReplicationController": "v1", "Job": "batch/v1", "Database": "example.com/v1", "Table": "example.com/v1",
}

func main() {
	klog.SetLogger(logr.Discard())
	world := newWorld()
	lines.Run(func(line []byte) (any, error) {
		var given given
		if err := json.Unmarshal(line, &given); err != nil {
			return nil, err
		}
		world.reset()
		given.store(world)
		if err := sync(world.controller, context.Background(), namespace+"/"+given.Budget.Name); err != nil {
			return nil, err
		}
		return world.status(), nil
	})
}

func (given *given) store(world *world) {
	for index := range given.Owners {
		if owner := &given.Owners[index]; !owner.Gone {
			world.addOwner(name(index), owner.uid(index), owner, given.reference(owner.Owner))
		}
	}
	budget := &given.Budget
	budget.Namespace, budget.Generation = namespace, 2
	budget.Status.DisruptedPods = map[string]metav1.Time{}
	for index, pod := range given.Pods {
		world.pods.Add(pod.object(index, given.reference(pod.Owner)))
		if pod.Evicted != nil {
			moment := now.Add(-time.Duration(*pod.Evicted) * time.Second)
			budget.Status.DisruptedPods[fmt.Sprintf("p%d", index)] = metav1.NewTime(moment)
		}
	}
	world.budgets.Add(budget)
}

// reference is what the pods (or the ReplicaSets) of an owner carry; it names the object that made them.
func (given *given) reference(index *int) []metav1.OwnerReference {
	if index == nil {
		return nil
	}
	kind, controls := given.Owners[*index].Kind, true
	return []metav1.OwnerReference{{
		APIVersion: apiVersions[kind], Kind: kind, Name: name(*index), UID: types.UID(name(*index)), Controller: &controls,
	}}
}

func name(index int) string { return fmt.Sprintf("o%d", index) }

func (given *owner) uid(index int) types.UID {
	if given.Anew {
		return types.UID(name(index) + "-again")
	}
	return types.UID(name(index))
}

func (given *pod) object(index int, owners []metav1.OwnerReference) *corev1.Pod {
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("p%d", index), Namespace: namespace, Labels: map[string]string{"app": given.App}, OwnerReferences: owners,
	}}
	if given.Space != "" {
		object.Namespace = given.Space
	}
	if given.Ending {
		object.DeletionTimestamp = &metav1.Time{Time: now}
	}
	object.Status.Phase = given.Phase
	if given.Ready {
		object.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return object
}

func (world *world) addOwner(name string, uid types.UID, given *owner, owners []metav1.OwnerReference) {
	meta := metav1.ObjectMeta{Name: name, Namespace: namespace, UID: uid, OwnerReferences: owners}
	switch given.Kind {
	case "Deployment":
		world.deployments.Add(&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &given.Replicas}})
	case "ReplicaSet":
		world.sets.Add(&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &given.Replicas}})
	case "StatefulSet":
		world.statefulSets.Add(&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &given.Replicas}})
	case "ReplicationController":
		spec := corev1.ReplicationControllerSpec{Replicas: &given.Replicas}
		world.replicationControllers.Add(&corev1.ReplicationController{ObjectMeta: meta, Spec: spec})
	}
	if given.Kind != "DaemonSet" && given.Kind != "Job" && given.Kind != "Table" {
		world.scales[name] = newScale(name, uid, given.Replicas)
	}
}

// status is what the budget says afterwards.
func (world *world) status() any {
	budget := world.budgets.List()[0].(*policyv1.PodDisruptionBudget)
	failed := false
	for _, condition := range budget.Status.Conditions {
		failed = failed || condition.Reason == policyv1.SyncFailedReason
	}
	status := budget.Status
	return []any{status.ExpectedPods, status.DesiredHealthy, status.CurrentHealthy, status.DisruptionsAllowed,
		failed, status.ObservedGeneration == budget.Generation, len(status.DisruptedPods)}
}

func exitIf(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
