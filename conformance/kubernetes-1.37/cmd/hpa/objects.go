package main

import (
	"encoding/json"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	defaults "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
)

const target = "web"

// facts are `Count` equal pods as the autoscaler sees them; all numbers are seconds before now.
type facts struct {
	Count   int    `json:"count"`
	Spec    int    `json:"spec"` // number of the pod spec
	Phase   string `json:"phase"`
	Deleted bool   `json:"deleted"`
	Age     *int   `json:"age"`     // since startTime; none: not set
	Ready   string `json:"ready"`   // status of the Ready condition; empty: there is none
	Changed int    `json:"changed"` // since the condition's last transition
}

// autoscaler is the object after the API server's defaults, written and read once as on its way to the controller,
// which gives quantities their canonical form.
func (w *world) autoscaler(name string, spec autoscalingv2.HorizontalPodAutoscalerSpec) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	given := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace(), Name: name}, Spec: spec}
	given.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: target}
	defaults.SetObjectDefaults_HorizontalPodAutoscaler(given)
	text, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	stored := &autoscalingv2.HorizontalPodAutoscaler{}
	return stored, json.Unmarshal(text, stored)
}

// namespace is a new one for each case, so that the controller remembers nothing of the case before.
func (w *world) namespace() string { return fmt.Sprintf("case-%d", w.cases) }

// setPods makes these the only pods of the namespace.
func (w *world) setPods(pods []*corev1.Pod) error {
	objects := make([]interface{}, 0, len(pods))
	for _, pod := range pods {
		objects = append(objects, pod)
	}
	return w.factory.Core().V1().Pods().Informer().GetIndexer().Replace(objects, "")
}

// pods are the pods of one group of facts, numbered on from the first.
func (w *world) pods(group int, given facts, spec corev1.PodSpec) []*corev1.Pod {
	var made []*corev1.Pod
	for number := 0; number < given.Count; number++ {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace(), Name: podName(group, number), Labels: map[string]string{"app": target},
		}, Spec: spec}
		if given.Deleted {
			pod.DeletionTimestamp = &metav1.Time{Time: before(0)}
		}
		pod.Status.Phase = corev1.PodPhase(given.Phase)
		if given.Age != nil {
			pod.Status.StartTime = &metav1.Time{Time: before(*given.Age)}
		}
		if given.Ready != "" {
			pod.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodReady, Status: corev1.ConditionStatus(given.Ready),
				LastTransitionTime: metav1.Time{Time: before(given.Changed)},
			}}
		}
		made = append(made, pod)
	}
	return made
}

func podName(group, number int) string { return fmt.Sprintf("%s-%d-%d", target, group, number) }

func before(seconds int) time.Time { return time.Now().Add(-time.Duration(seconds) * time.Second) }
