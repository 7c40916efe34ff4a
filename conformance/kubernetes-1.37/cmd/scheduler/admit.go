package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
)

// admitPod takes the pod through defaulting, DefaultTolerationSeconds, and the strategy of pods: fields of
// features that are off are dropped, label keys are merged into selectors, and the result must be valid.
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
	podregistry.Strategy.PrepareForCreate(context.Background(), internal)
	if invalid := podregistry.Strategy.Validate(context.Background(), internal); len(invalid) > 0 {
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
	plugin := defaulttolerationseconds.NewDefaultTolerationSeconds()
	plugin.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	return plugin.Admit(context.Background(), attributes, nil)
}
