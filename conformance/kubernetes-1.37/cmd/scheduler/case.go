package main

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// Case is one cluster and the pod, or the pods one after another, to be scheduled.
type Case struct {
	Nodes       []*corev1.Node                  `json:"nodes"`
	Pods        []*corev1.Pod                   `json:"pods"`  // bound
	Pod         *corev1.Pod                     `json:"pod"`   // to be scheduled
	Queue       []*corev1.Pod                   `json:"queue"` // to be scheduled one after another
	Namespaces  []*corev1.Namespace             `json:"namespaces"`
	ReplicaSets []*appsv1.ReplicaSet            `json:"replicaSets"` // owners of pods
	Budgets     []*policyv1.PodDisruptionBudget `json:"budgets"`
	Volumes     []*corev1.PersistentVolume      `json:"volumes"`
	Claims      []*corev1.PersistentVolumeClaim `json:"claims"`
	Classes     []*storagev1.StorageClass       `json:"classes"`
	Profile     json.RawMessage                 `json:"profile"` // of a KubeSchedulerConfiguration; absent: the default one
}

// admit does what the API server would have done before the scheduler sees the objects.
func (c *Case) admit() error {
	for _, node := range c.Nodes {
		legacyscheme.Scheme.Default(node)
	}
	for _, namespace := range c.Namespaces {
		legacyscheme.Scheme.Default(namespace)
	}
	pods := append(append([]*corev1.Pod{}, c.Pods...), c.Queue...)
	if c.Pod != nil {
		pods = append(pods, c.Pod)
	}
	for _, pod := range pods {
		if err := admitPod(pod); err != nil {
			return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
	}
	return nil
}
