package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/apis/core"
)

func quantity(value int64) *resource.Quantity { return resource.NewQuantity(value, resource.DecimalSI) }

// setImages gives containers an image, without which no pod is valid.
func setImages(pod *corev1.Pod) {
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			containers[i].Image = "none:1"
		}
	}
}

// resources are the requests ("r cpu") and limits ("l cpu") of every container, CPU in thousandths.
func resources(pod *core.Pod) []map[string]int64 {
	found := []map[string]int64{}
	for _, containers := range [][]core.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for _, container := range containers {
			amounts := map[string]int64{}
			for prefix, list := range map[string]core.ResourceList{
				"r ": container.Resources.Requests, "l ": container.Resources.Limits,
			} {
				for name, amount := range list {
					amounts[prefix+string(name)] = value(name, amount)
				}
			}
			found = append(found, amounts)
		}
	}
	return found
}

func value(name core.ResourceName, amount resource.Quantity) int64 {
	if name == core.ResourceCPU {
		return amount.MilliValue()
	}
	return amount.Value()
}
