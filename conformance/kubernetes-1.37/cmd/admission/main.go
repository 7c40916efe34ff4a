// Command admission records what LimitRanger and the ResourceQuota admission make of a pod, and how many pods like it
// they let in.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	evaluators "k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	clock "k8s.io/utils/clock/testing"

	"kubeproof.dev/conformance/shared/lines"
)

const most = 6 // pods that are tried

// Case is a namespace with pods in it, and a pod that is to be created there several times.
type Case struct {
	LimitRanges []*corev1.LimitRange    `json:"limitRanges"`
	Quotas      []*corev1.ResourceQuota `json:"quotas"`
	Pods        []*corev1.Pod           `json:"pods"`
	Pod         *corev1.Pod             `json:"pod"`
}

// Decision is the resources of each container after defaulting, the pods let in, and why no more.
type Decision struct {
	Containers []map[string]int64 `json:"c"`
	Admitted   int                `json:"n"`
	Refused    string             `json:"w"`
}

func main() {
	lines.Run(func(line []byte) (any, error) {
		var given Case
		if err := json.Unmarshal(line, &given); err != nil {
			return nil, err
		}
		return decide(&given)
	})
}

func decide(given *Case) (any, error) {
	legacyscheme.Scheme.Default(given.Pod)
	setImages(given.Pod)
	pod := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(given.Pod, pod, nil); err != nil {
		return nil, err
	}
	for _, limitRange := range given.LimitRanges {
		if err := checkedDefaults(limitRange); err != nil {
			return nil, err
		}
		if err := limitranger.PodMutateLimitFunc(limitRange, pod); err != nil {
			return nil, err
		}
	}
	decision := Decision{Containers: resources(pod)}
	if decision.Refused = refusedByLimits(given, pod); decision.Refused != "" {
		return decision, nil
	}
	return decision, admitAll(given, pod, &decision)
}

// checkedDefaults does to a LimitRange what the API server does.
func checkedDefaults(limitRange *corev1.LimitRange) error {
	legacyscheme.Scheme.Default(limitRange)
	internal := &core.LimitRange{}
	if err := legacyscheme.Scheme.Convert(limitRange, internal, nil); err != nil {
		return err
	}
	return validation.ValidateLimitRange(internal).ToAggregate()
}

func refusedByLimits(given *Case, pod *core.Pod) string {
	podregistry.Strategy.PrepareForCreate(context.Background(), pod)
	if len(podregistry.Strategy.Validate(context.Background(), pod)) > 0 {
		return "invalid"
	}
	for _, limitRange := range given.LimitRanges {
		if limitranger.PodValidateLimitFunc(limitRange, pod) != nil {
			return "limits"
		}
	}
	return ""
}

// admitAll creates the pod again and again until a quota refuses it.
func admitAll(given *Case, pod *core.Pod, decision *Decision) error {
	now, err := time.Parse(time.RFC3339, "2020-01-01T00:10:00Z")
	if err != nil {
		return err
	}
	evaluator := evaluators.NewPodEvaluator(nil, clock.NewFakeClock(now))
	quotas, err := withUsage(given, evaluator)
	if err != nil {
		return err
	}
	attributes := admission.NewAttributesRecord(pod, nil, schema.GroupVersionKind{Version: "v1", Kind: "Pod"},
		pod.Namespace, pod.Name, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "",
		admission.Create, nil, false, nil)
	for decision.Admitted = 0; decision.Admitted < most; decision.Admitted++ {
		changed, refusal := resourcequota.CheckRequest(quotas, attributes, evaluator, nil)
		if refusal != nil {
			decision.Refused, err = word(refusal)
			return err
		}
		quotas = changed
	}
	return nil
}

// withUsage gives every quota the status that the quota controller would have worked out.
func withUsage(given *Case, evaluator quota.Evaluator) ([]corev1.ResourceQuota, error) {
	found := []corev1.ResourceQuota{}
	for _, one := range given.Quotas {
		one.Status.Hard = one.Spec.Hard
		one.Status.Used = corev1.ResourceList{}
		for name := range one.Spec.Hard {
			one.Status.Used[name] = *quantity(0)
		}
		for _, pod := range given.Pods {
			legacyscheme.Scheme.Default(pod)
			matches, err := evaluator.Matches(one, pod)
			if err != nil {
				return nil, err
			}
			if !matches {
				continue
			}
			usage, err := evaluator.Usage(pod)
			if err != nil {
				return nil, err
			}
			masked := quota.Mask(usage, quota.ResourceNames(one.Spec.Hard))
			one.Status.Used = quota.Add(one.Status.Used, masked)
		}
		found = append(found, *one)
	}
	return found, nil
}

func word(refusal error) (string, error) {
	for part, word := range map[string]string{"must specify": "unstated", "exceeded quota": "exceeded"} {
		if strings.Contains(refusal.Error(), part) {
			return word, nil
		}
	}
	return "", fmt.Errorf("unexpected refusal: %w", refusal)
}
