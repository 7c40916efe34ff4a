package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
)

// admitPod takes the pod through defaulting, DefaultTolerationSeconds, and what the strategy of pods does: fields of
// features that are off are dropped, and the result must be valid.
func admitPod(pod *corev1.Pod) error {
	for i := range pod.Spec.Containers {
		setImage(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		setImage(&pod.Spec.InitContainers[i])
	}
	status := pod.Status
	legacyscheme.Scheme.Default(pod)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return err
	}
	if err := tolerateForAWhile(internal); err != nil {
		return err
	}
	podutil.DropDisabledPodFields(internal, nil)
	options := podutil.GetValidationOptionsFromPodSpecAndMeta(&internal.Spec, nil, &internal.ObjectMeta, nil)
	if invalid := validation.ValidatePodCreate(internal, options); len(invalid) > 0 {
		return invalid.ToAggregate()
	}
	if err := legacyscheme.Scheme.Convert(internal, pod, nil); err != nil {
		return err
	}
	pod.Status = status
	return nil
}

// setImage gives a container that names no image one that no node has.
func setImage(container *corev1.Container) {
	if container.Image == "" {
		container.Image = "none:1"
	}
}

func tolerateForAWhile(pod *core.Pod) error {
	attributes := admission.NewAttributesRecord(pod, nil, schema.GroupVersionKind{Version: "v1", Kind: "Pod"},
		pod.Namespace, pod.Name, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "",
		admission.Create, nil, false, nil)
	return defaulttolerationseconds.NewDefaultTolerationSeconds().Admit(context.Background(), attributes, nil)
}
