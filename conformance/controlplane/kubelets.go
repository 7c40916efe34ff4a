package main

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

const heartbeat = 5 * time.Second

// kubelets simulate the kubelets of all nodes: they set what real ones would report, after the delays asked for.
type kubelets struct {
	client  kubernetes.Interface
	startup time.Duration // from binding to ready
	ending  time.Duration // from deletion to gone, for pods that run
	delay   time.Duration // from binding to admission

	mutex   sync.Mutex
	down    map[string]bool
	nodes   map[string]*core.Node
	known   map[types.UID]*podLife
	stopped bool
}

// podLife is what a kubelet knows about a pod of its own.
type podLife struct {
	node     string
	requests core.ResourceList
	started  time.Time // zero until its containers run
	waiting  bool      // not admitted yet
	ending   bool
	rejected bool
}

func newKubelets(client kubernetes.Interface, read *plan) *kubelets {
	return &kubelets{
		client: client, startup: seconds(read.StartupS), ending: seconds(read.EndingS), delay: seconds(read.AdmissionS),
		down: map[string]bool{}, nodes: map[string]*core.Node{}, known: map[types.UID]*podLife{},
	}
}

// register creates a node as its kubelet would, and keeps its heartbeat going until the context ends.
func (k *kubelets) register(ctx context.Context, declared *core.Node) error {
	status := declared.Status
	status.Capacity = status.Allocatable
	created, err := k.client.CoreV1().Nodes().Create(ctx, declared, meta.CreateOptions{})
	if err != nil {
		return err
	}
	created.Status = status
	created.Status.Conditions = nodeConditions()
	if _, err := k.client.CoreV1().Nodes().UpdateStatus(ctx, created, meta.UpdateOptions{}); err != nil {
		return err
	}
	k.mutex.Lock()
	k.nodes[declared.Name] = declared
	k.mutex.Unlock()
	go k.beat(ctx, declared.Name)
	return nil
}

func nodeConditions() []core.NodeCondition {
	now := meta.Now()
	conditions := []core.NodeCondition{}
	for _, kind := range []core.NodeConditionType{core.NodeMemoryPressure, core.NodeDiskPressure, core.NodePIDPressure} {
		conditions = append(conditions, core.NodeCondition{
			Type: kind, Status: core.ConditionFalse, Reason: "Simulated", LastHeartbeatTime: now, LastTransitionTime: now,
		})
	}
	return append(conditions, core.NodeCondition{
		Type: core.NodeReady, Status: core.ConditionTrue, Reason: "KubeletReady",
		LastHeartbeatTime: now, LastTransitionTime: now,
	})
}

// beat renews the node's lease and status; a node that is down stays silent.
func (k *kubelets) beat(ctx context.Context, node string) {
	for ctx.Err() == nil {
		if !k.isDown(node) {
			k.renewLease(ctx, node)
			status, _ := json.Marshal(map[string]any{"status": map[string]any{"conditions": nodeConditions()}})
			_, _ = k.client.CoreV1().Nodes().PatchStatus(ctx, node, status)
		}
		select {
		case <-ctx.Done():
		case <-time.After(heartbeat):
		}
	}
}

func (k *kubelets) renewLease(ctx context.Context, node string) {
	leases := k.client.CoordinationV1().Leases(core.NamespaceNodeLease)
	seconds, now := int32(40), meta.NowMicro()
	spec := coordination.LeaseSpec{HolderIdentity: &node, LeaseDurationSeconds: &seconds, RenewTime: &now}
	lease, err := leases.Get(ctx, node, meta.GetOptions{})
	if err != nil {
		lease = &coordination.Lease{ObjectMeta: meta.ObjectMeta{Name: node}, Spec: spec}
		_, _ = leases.Create(ctx, lease, meta.CreateOptions{})
		return
	}
	lease.Spec = spec
	_, _ = leases.Update(ctx, lease, meta.UpdateOptions{})
}

func (k *kubelets) isDown(node string) bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.down[node]
}

// setDown switches a node off or on.
func (k *kubelets) setDown(node string, down bool) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.down[node] = down
}

// run watches pods until the context ends.
func (k *kubelets) run(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(k.client, 2*time.Second) // resync: a node that came back catches up
	informer := factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { k.see(ctx, object.(*core.Pod)) },
		UpdateFunc: func(_, object any) { k.see(ctx, object.(*core.Pod)) },
		DeleteFunc: func(object any) { k.forget(object) },
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return err
}

func (k *kubelets) forget(object any) {
	if pod, ok := object.(*core.Pod); ok {
		k.mutex.Lock()
		defer k.mutex.Unlock()
		delete(k.known, pod.UID)
	}
}

// see reacts to a pod as the kubelet of its node: admits or rejects it, starts it, ends it.
func (k *kubelets) see(ctx context.Context, pod *core.Pod) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	node := k.nodes[pod.Spec.NodeName]
	if node == nil || k.down[node.Name] {
		return
	}
	life := k.known[pod.UID]
	if pod.DeletionTimestamp != nil {
		k.end(ctx, pod, life)
		return
	}
	if life != nil || pod.Status.Phase == core.PodFailed || pod.Status.Phase == core.PodSucceeded {
		return
	}
	k.admit(ctx, node, pod)
}

// admit takes a pod in, after the time the kubelet needs to look at it.
func (k *kubelets) admit(ctx context.Context, node *core.Node, pod *core.Pod) {
	life := &podLife{node: node.Name, waiting: true, requests: podRequests(pod)}
	k.known[pod.UID] = life
	if k.delay == 0 {
		k.decide(ctx, node, pod, life)
		return
	}
	time.AfterFunc(k.delay, func() {
		k.mutex.Lock()
		defer k.mutex.Unlock()
		if !life.ending {
			k.decide(ctx, node, pod, life)
		}
	})
}

// decide follows the kubelet's admission in short: NoExecute taints, then resources beside the admitted pods.
func (k *kubelets) decide(ctx context.Context, node *core.Node, pod *core.Pod, life *podLife) {
	reason := k.refusal(node, pod, life.requests)
	life.waiting, life.rejected = false, reason != ""
	if life.rejected {
		go k.report(ctx, pod, rejectedStatus(reason))
		return
	}
	bound := meta.Now()
	time.AfterFunc(k.startup, func() { k.begin(ctx, pod, life, bound) })
}

func (k *kubelets) refusal(node *core.Node, pod *core.Pod, wanted core.ResourceList) string {
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect == core.TaintEffectNoExecute && !tolerates(pod, taint) {
			return "TaintToleration"
		}
	}
	for name, amount := range wanted {
		free := node.Status.Allocatable[name].DeepCopy()
		for _, other := range k.known {
			if other.node == node.Name && !other.waiting && !other.rejected {
				free.Sub(other.requests[name])
			}
		}
		if free.Cmp(amount) < 0 {
			return "OutOf" + string(name)
		}
	}
	return ""
}

func tolerates(pod *core.Pod, taint *core.Taint) bool {
	for _, toleration := range pod.Spec.Tolerations {
		key := toleration.Key == "" || toleration.Key == taint.Key
		effect := toleration.Effect == "" || toleration.Effect == taint.Effect
		value := toleration.Operator == core.TolerationOpExists || toleration.Value == taint.Value
		if key && effect && value {
			return true
		}
	}
	return false
}

func podRequests(pod *core.Pod) core.ResourceList {
	total := core.ResourceList{core.ResourcePods: resource.MustParse("1")}
	for _, container := range pod.Spec.Containers {
		for name, amount := range container.Resources.Requests {
			sum := total[name]
			sum.Add(amount)
			total[name] = sum
		}
	}
	return total
}

func (k *kubelets) begin(ctx context.Context, pod *core.Pod, life *podLife, bound meta.Time) {
	k.mutex.Lock()
	if life.ending || k.down[life.node] {
		k.mutex.Unlock()
		return
	}
	life.started = time.Now()
	k.mutex.Unlock()
	k.report(ctx, pod, runningStatus(pod, bound))
}

func (k *kubelets) report(ctx context.Context, pod *core.Pod, status core.PodStatus) {
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	_, _ = k.client.CoreV1().Pods(pod.Namespace).Patch(
		ctx, pod.Name, types.StrategicMergePatchType, patch, meta.PatchOptions{}, "status")
}

func rejectedStatus(reason string) core.PodStatus {
	return core.PodStatus{Phase: core.PodFailed, Reason: reason, Message: "rejected by the simulated kubelet"}
}

func runningStatus(pod *core.Pod, bound meta.Time) core.PodStatus {
	now := meta.Now()
	status := core.PodStatus{Phase: core.PodRunning, StartTime: &bound}
	for _, kind := range []core.PodConditionType{core.PodInitialized, core.ContainersReady, core.PodReady} {
		status.Conditions = append(status.Conditions, core.PodCondition{
			Type: kind, Status: core.ConditionTrue, LastTransitionTime: now,
		})
	}
	for _, container := range pod.Spec.Containers {
		running := core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: now}}
		status.ContainerStatuses = append(status.ContainerStatuses, core.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: true, State: running,
		})
	}
	return status
}

// end removes a deleted pod: at once if nothing of it runs, else after the time its containers take to stop.
func (k *kubelets) end(ctx context.Context, pod *core.Pod, life *podLife) {
	if life == nil {
		life = &podLife{node: pod.Spec.NodeName}
		k.known[pod.UID] = life
	}
	if life.ending {
		return
	}
	life.ending = true
	delay := k.ending
	if life.started.IsZero() {
		delay = 0
	}
	time.AfterFunc(delay, func() { k.remove(ctx, pod) })
}

func (k *kubelets) remove(ctx context.Context, pod *core.Pod) {
	now := int64(0)
	_ = k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, meta.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &meta.Preconditions{UID: &pod.UID},
	})
}

// runningSince tells when a pod's containers began to run.
func (k *kubelets) runningSince(uid types.UID) (time.Time, bool) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	life := k.known[uid]
	if life == nil || life.started.IsZero() {
		return time.Time{}, false
	}
	return life.started, true
}
