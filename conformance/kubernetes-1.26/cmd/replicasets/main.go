// Command replicasets records in which order the real ReplicaSet controller deletes pods on scale-down.
package main

import (
	"encoding/json"
	"fmt"
	"time"
	_ "unsafe" // for go:linkname

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	_ "k8s.io/kubernetes/pkg/controller/replicaset"

	"kubeproof.dev/conformance/shared/bubble"
	"kubeproof.dev/conformance/shared/lines"
)

//go:linkname getPodsToDelete k8s.io/kubernetes/pkg/controller/replicaset.getPodsToDelete
func getPodsToDelete(filteredPods, relatedPods []*corev1.Pod, diff int) []*corev1.Pod

type scaleDown struct {
	Pods   []pod         `json:"pods"`   // of the ReplicaSet, as it lists them
	Others []pod         `json:"others"` // of the same owner's other ReplicaSets
	Count  int           `json:"count"`  // how many go
	At     time.Duration `json:"at"`     // nanoseconds since the beginning of the clock
}

// pod has times in seconds before the beginning of the clock; nil: the zero time.
type pod struct {
	UID      string  `json:"uid"`
	Node     string  `json:"node"`
	Phase    string  `json:"phase"`
	Ending   bool    `json:"ending"`
	Ready    bool    `json:"ready"`
	Since    *int64  `json:"since"`
	Created  *int64  `json:"created"`
	Cost     string  `json:"cost"`
	Restarts []int32 `json:"restarts"`
	Sidecars []int32 `json:"sidecars"`
	Inits    []int32 `json:"inits"` // restarts of init containers that run once
}

func main() {
	lines.Run(func(line []byte) (any, error) {
		var given scaleDown
		if err := json.Unmarshal(line, &given); err != nil {
			return nil, err
		}
		order := []string{}
		bubble.Run(func() {
			begun := time.Now()
			pods, related := build(given.Pods, begun), build(given.Others, begun)
			time.Sleep(given.At)
			for _, victim := range getPodsToDelete(pods, append(related, pods...), given.Count) {
				order = append(order, string(victim.UID))
			}
		})
		return order, nil
	})
}

func build(pods []pod, begun time.Time) []*corev1.Pod {
	var built []*corev1.Pod
	for _, given := range pods {
		built = append(built, given.object(begun))
	}
	return built
}

func (given *pod) object(begun time.Time) *corev1.Pod {
	before := func(seconds *int64) metav1.Time {
		if seconds == nil {
			return metav1.Time{}
		}
		return metav1.NewTime(begun.Add(-time.Duration(*seconds) * time.Second))
	}
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(given.UID), CreationTimestamp: before(given.Created)}}
	if given.Cost != "" {
		object.Annotations = map[string]string{corev1.PodDeletionCost: given.Cost}
	}
	if given.Ending {
		object.DeletionTimestamp = &metav1.Time{Time: begun}
	}
	object.Spec.NodeName, object.Status.Phase = given.Node, corev1.PodPhase(given.Phase)
	condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: before(given.Since)}
	if given.Ready {
		condition.Status = corev1.ConditionTrue
	}
	object.Status.Conditions = []corev1.PodCondition{condition}
	given.addContainers(object)
	return object
}

func (given *pod) addContainers(object *corev1.Pod) {
	object.Status.ContainerStatuses = statuses("main", given.Restarts)
	object.Status.InitContainerStatuses = append(statuses("sidecar", given.Sidecars), statuses("init", given.Inits)...)
	for index := range given.Sidecars {
		object.Spec.InitContainers = append(object.Spec.InitContainers, sidecar(name("sidecar", index)))
	}
	for index := range given.Inits {
		object.Spec.InitContainers = append(object.Spec.InitContainers, corev1.Container{Name: name("init", index)})
	}
}

func statuses(kind string, restarts []int32) []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for index, count := range restarts {
		all = append(all, corev1.ContainerStatus{Name: name(kind, index), RestartCount: count})
	}
	return all
}

func name(kind string, index int) string { return fmt.Sprintf("%s-%d", kind, index) }
