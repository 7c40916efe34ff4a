package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// run is one case on one control plane.
type run struct {
	plan     *plan
	objects  *objects
	plane    *controlPlane
	user     *kubernetes.Clientset
	operator *kubernetes.Clientset
	dynamic  dynamic.Interface
	kubelets *kubelets
	meter    *meter
	recorder *recorder
	over     atomic.Bool // the stop rule has held
}

// runCase starts everything, lets the case happen, and returns what was done until its stop rule held.
func runCase(ctx context.Context, read *plan, dir, binaries string) ([]action, error) {
	found, err := readObjects(read.Manifests)
	if err != nil {
		return nil, err
	}
	plane, err := startControlPlane(ctx, dir, binaries, read.ManagerFlags)
	if err != nil {
		return nil, err
	}
	defer plane.processes.stopAll()
	current := &run{plan: read, objects: found, plane: plane, recorder: newRecorder(
		plane.auditLog, func() map[string][]time.Time { return attempts(plane.schedulerLog()) },
	)}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, step := range []func(context.Context) error{current.connect, current.prepare, current.create, current.watch} {
		if err := step(inner); err != nil {
			return nil, err
		}
	}
	return current.recorder.actions(), nil
}

func (r *run) connect(ctx context.Context) (err error) {
	if r.user, err = r.plane.client(userDriver); err != nil {
		return err
	}
	if r.operator, err = r.plane.client(userDrain); err != nil {
		return err
	}
	config, err := r.plane.restConfig(userDriver)
	if err != nil {
		return err
	}
	if r.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	nodes, err := r.plane.client(userKubelet)
	if err != nil {
		return err
	}
	r.kubelets = newKubelets(nodes, r.plan)
	r.meter = &meter{client: r.user, kubelets: r.kubelets, phases: r.plan.Usage}
	return nil
}

// prepare brings up what is there before the workloads: nodes, namespace, metrics, bare pods.
func (r *run) prepare(ctx context.Context) error {
	for _, node := range r.objects.nodes {
		if err := r.kubelets.register(ctx, node); err != nil {
			return err
		}
	}
	namespace := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: r.plan.namespace()}}
	if _, err := r.user.CoreV1().Namespaces().Create(ctx, namespace, meta.CreateOptions{}); err != nil {
		return err
	}
	if len(r.objects.watchers) > 0 {
		if err := r.meter.serve(ctx, r.plane); err != nil {
			return err
		}
	}
	if err := r.kubelets.run(ctx); err != nil {
		return err
	}
	if err := eventually(ctx, time.Minute, "nodes and the service account are ready", func() bool { return r.isPrepared(ctx) }); err != nil {
		return err
	}
	return r.createAll(ctx, r.objects.before)
}

func (r *run) isPrepared(ctx context.Context) bool {
	_, err := r.user.CoreV1().ServiceAccounts(r.plan.namespace()).Get(ctx, "default", meta.GetOptions{})
	for _, node := range r.objects.nodes {
		if err != nil || !r.isUntainted(ctx, node.Name, len(node.Spec.Taints)) {
			return false
		}
	}
	return err == nil
}

// isUntainted is true if the node lifecycle controller has taken its taints away.
func (r *run) isUntainted(ctx context.Context, name string, own int) bool {
	node, err := r.user.CoreV1().Nodes().Get(ctx, name, meta.GetOptions{})
	return err == nil && len(node.Spec.Taints) <= own
}

// create starts the clock and creates the workloads; with a deployed start, autoscalers and descheduler come later.
func (r *run) create(ctx context.Context) error {
	if err := r.waitStable(ctx, 3*time.Second); err != nil { // bare pods run
		return err
	}
	r.recorder.start()
	if !r.plan.StartDeployed {
		if err := r.startLate(ctx); err != nil {
			return err
		}
		return r.createAll(ctx, r.objects.workloads)
	}
	if err := r.createAll(ctx, r.objects.workloads); err != nil {
		return err
	}
	if err := r.waitStable(ctx, 5*time.Second); err != nil {
		return err
	}
	r.recorder.note(action{Who: "event", Verb: "deployed", Object: r.plan.Target})
	return r.startLate(ctx)
}

func (r *run) startLate(ctx context.Context) error {
	if r.objects.policy != nil {
		if err := r.plane.startDescheduler(r.objects.policy, seconds(r.plan.DeschedulerS)); err != nil {
			return err
		}
	}
	return r.createAll(ctx, r.objects.watchers)
}

var resources = map[string]string{
	"Deployment": "deployments", "Pod": "pods", "HorizontalPodAutoscaler": "horizontalpodautoscalers",
	"PodDisruptionBudget": "poddisruptionbudgets",
}

// createAll creates objects as a first `kubectl apply` does.
func (r *run) createAll(ctx context.Context, all []*unstructured.Unstructured) error {
	for _, object := range all {
		content, err := withLastApplied(object.Object)
		if err != nil {
			return err
		}
		annotated := &unstructured.Unstructured{}
		if err := annotated.UnmarshalJSON(content); err != nil {
			return err
		}
		kind := object.GroupVersionKind()
		resource := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: resources[kind.Kind]}
		client := r.dynamic.Resource(resource).Namespace(object.GetNamespace())
		if _, err := client.Create(ctx, annotated, meta.CreateOptions{}); err != nil {
			return fmt.Errorf("%s %s: %w", kind.Kind, object.GetName(), err)
		}
	}
	return nil
}

// watch lets the events happen, each in a stable cluster, until the stop rule holds or time is up.
func (r *run) watch(ctx context.Context) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- r.happenAll(inner) }()
	deadline := time.After(seconds(r.plan.LimitS))
	for !r.isOver() {
		select {
		case err := <-failed:
			if err != nil {
				return err
			}
		case <-deadline:
			fmt.Fprintln(os.Stderr, "controlplane: time is up, the stop rule has not held")
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
	return r.pause(ctx, 2*time.Second) // let the log catch up
}

func (r *run) happenAll(ctx context.Context) error {
	for _, next := range r.plan.Events {
		if err := r.waitStable(ctx, r.plan.quiet()); err != nil {
			return err
		}
		if err := r.happen(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

// isOver is true once the stop rule has held.
func (r *run) isOver() bool {
	if !r.over.Load() && r.holds(r.recorder.actions()) {
		r.over.Store(true)
	}
	return r.over.Load()
}

// holds is true if the stop rule held at some moment. Lower bounds count once the target has been complete.
func (r *run) holds(actions []action) bool {
	complete := false
	for end := 1; end <= len(actions); end++ {
		now := count(actions[:end], r.plan.Target)
		rule := r.plan.Stop
		switch rule.Kind {
		case "pods-above":
			complete = now.pods > rule.Count
		case "unschedulable":
			complete = now.unplaced >= rule.Count
		case "evictions":
			complete = now.evictions >= rule.Count
		case "creations":
			complete = now.creations >= rule.Count
		case "pods-below", "ready-below":
			amount := map[string]int{"pods-below": now.pods, "ready-below": now.ready}[rule.Kind]
			if complete && amount < rule.Count {
				return true
			}
			complete = complete || now.ready >= rule.Count
			continue
		}
		if complete {
			return true
		}
	}
	return false
}

// waitStable waits until nobody has done anything for so long.
func (r *run) waitStable(ctx context.Context, quiet time.Duration) error {
	since, before := time.Now(), -1
	for time.Since(since) < quiet {
		if now := len(r.recorder.actions()); now != before {
			since, before = time.Now(), now
		}
		if err := r.pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
