package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// happen makes one event happen.
func (r *run) happen(ctx context.Context, next event) error {
	switch next.Kind {
	case "cpu":
		r.meter.set([]phase{{Percent: next.Percent}})
		r.recorder.note(action{Who: "event", Verb: "cpu", Object: r.plan.Target, To: &next.Percent})
		return nil
	case "apply":
		return r.apply(ctx, next.Manifest)
	case "maintenance":
		return r.maintain(ctx, r.chosen(next))
	}
	return fmt.Errorf("unknown event %q", next.Kind)
}

// chosen is the node of an event: the one of the counterexample if it has as many pods here, else the first that has.
func (r *run) chosen(next event) string {
	homes := count(r.recorder.actions(), r.plan.Target).homes
	if homes[next.Node] == next.Pods {
		return next.Node
	}
	for _, node := range r.objects.nodes {
		if homes[node.Name] == next.Pods {
			return node.Name
		}
	}
	return next.Node
}

// apply does what `kubectl apply` does on the client's side: a three-way merge of the last applied manifest, the new
// one and the live object.
func (r *run) apply(ctx context.Context, manifest map[string]any) error {
	modified, err := withLastApplied(manifest)
	if err != nil {
		return err
	}
	metadata, _ := manifest["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	deployments := r.user.AppsV1().Deployments(r.plan.namespace())
	live, err := deployments.Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return err
	}
	current, err := json.Marshal(live)
	if err != nil {
		return err
	}
	lookup, err := strategicpatch.NewPatchMetaFromStruct(apps.Deployment{})
	if err != nil {
		return err
	}
	original := []byte(live.Annotations[lastApplied])
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, lookup, true)
	if err != nil {
		return err
	}
	_, err = deployments.Patch(ctx, name, types.StrategicMergePatchType, patch, meta.PatchOptions{})
	return err
}

// withLastApplied is the manifest with itself in the annotation that kubectl compares with later.
func withLastApplied(manifest map[string]any) ([]byte, error) {
	plain, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	copied := map[string]any{}
	if err := json.Unmarshal(plain, &copied); err != nil {
		return nil, err
	}
	metadata, _ := copied["metadata"].(map[string]any)
	metadata["annotations"] = map[string]any{lastApplied: string(plain)}
	return json.Marshal(copied)
}

// maintain cordons a node, drains it through the eviction API, takes it down for a while and brings it back.
func (r *run) maintain(ctx context.Context, node string) error {
	if err := r.cordon(ctx, node, true); err != nil {
		return err
	}
	if err := r.drain(ctx, node); err != nil {
		return err
	}
	r.kubelets.setDown(node, true)
	if err := r.pause(ctx, seconds(r.plan.MaintenanceS)); err != nil {
		return err
	}
	r.kubelets.setDown(node, false)
	if err := eventually(ctx, time.Minute, node+" is ready again", func() bool { return r.isUntainted(ctx, node, 1) }); err != nil {
		return err
	}
	return r.cordon(ctx, node, false)
}

func (r *run) cordon(ctx context.Context, node string, unschedulable bool) error {
	patch := fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, unschedulable)
	_, err := r.operator.CoreV1().Nodes().Patch(
		ctx, node, types.StrategicMergePatchType, []byte(patch), meta.PatchOptions{})
	return err
}

// drain evicts all pods of a node at once, as `kubectl drain` does, retries what a budget refuses, and waits until
// they are gone.
func (r *run) drain(ctx context.Context, node string) error {
	selector := meta.ListOptions{FieldSelector: "spec.nodeName=" + node}
	pods, err := r.operator.CoreV1().Pods(core.NamespaceAll).List(ctx, selector)
	if err != nil {
		return err
	}
	group := sync.WaitGroup{}
	for i := range pods.Items {
		group.Add(1)
		go func(pod *core.Pod) {
			defer group.Done()
			r.evict(ctx, pod)
		}(&pods.Items[i])
	}
	group.Wait()
	return eventually(ctx, 2*time.Minute, node+" is empty", func() bool {
		left, err := r.operator.CoreV1().Pods(core.NamespaceAll).List(ctx, selector)
		return r.isOver() || (err == nil && len(left.Items) == 0)
	})
}

func (r *run) evict(ctx context.Context, pod *core.Pod) {
	eviction := &policy.Eviction{ObjectMeta: meta.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}}
	for ctx.Err() == nil && !r.isOver() {
		err := r.operator.PolicyV1().Evictions(pod.Namespace).Evict(ctx, eviction)
		if err == nil || !errors.IsTooManyRequests(err) {
			return
		}
		_ = r.pause(ctx, 5*time.Second)
	}
}
