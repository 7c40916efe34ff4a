package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"kubeproof.dev/conformance/shared/descheduling"
)

// cluster is the case at hand behind one fake client: what it lists, and what is evicted through it.
type cluster struct {
	client     *fake.Clientset
	nodes      []*v1.Node
	namespaces map[string]bool
	pods       []*member
	groups     int

	// of the running cycle
	cache cache.Indexer
	lost  []int
}

// member is a pod of a group; its times are set anew for each cycle.
type member struct {
	pod   v1.Pod
	group int
	age   *int
}

func newCluster() *cluster {
	c := &cluster{client: fake.NewSimpleClientset()}
	c.client.PrependReactor("create", "pods", c.evict)
	c.client.PrependReactor("list", "pods", c.listPods)
	c.client.PrependReactor("list", "namespaces", c.listNamespaces)
	return c
}

// take makes the case's objects.
func (c *cluster) take(given *descheduling.Case) error {
	c.nodes, c.namespaces, c.pods, c.groups = nil, map[string]bool{}, nil, len(given.Pods)
	if err := json.Unmarshal(given.Nodes, &c.nodes); err != nil {
		return err
	}
	for number, group := range given.Pods {
		owner := given.Workloads[group.Workload]
		c.namespaces[owner.Namespace] = true
		for index := 0; index < group.Count; index++ {
			pod := v1.Pod{}
			if err := json.Unmarshal(owner.Template, &pod); err != nil {
				return err
			}
			c.complete(&pod, owner, group)
			pod.Name = fmt.Sprintf("%s-%d-%d", owner.Name, number, index)
			pod.UID = types.UID(owner.Namespace + "/" + pod.Name)
			c.pods = append(c.pods, &member{pod, number, group.Age})
		}
	}
	return nil
}

// complete adds what the API server, the controllers and the kubelet would.
func (c *cluster) complete(pod *v1.Pod, owner descheduling.Workload, group descheduling.Group) {
	pod.Namespace = owner.Namespace
	if owner.Kind != "Pod" {
		uid := types.UID(owner.Namespace + "/" + owner.Kind + "/" + owner.Name)
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: owner.Kind, Name: owner.Name, UID: uid}}
	}
	if group.Node >= 0 {
		pod.Spec.NodeName = c.nodes[group.Node].Name
	}
	priority := int32(0) // as the Priority admission plugin sets it
	pod.Spec.Priority = &priority
	tolerate(&pod.Spec, v1.TaintNodeNotReady)
	tolerate(&pod.Spec, v1.TaintNodeUnreachable)
	pod.Status.Phase = v1.PodRunning
	if group.Failed {
		pod.Status.Phase = v1.PodFailed
	}
	if group.Terminating {
		now := metav1.Now()
		pod.DeletionTimestamp = &now
	}
	pod.Status.ContainerStatuses = []v1.ContainerStatus{{RestartCount: group.Restarts}}
}

// tolerate adds what the DefaultTolerationSeconds admission plugin adds unless the pod tolerates the taint by itself.
func tolerate(spec *v1.PodSpec, key string) {
	for _, one := range spec.Tolerations {
		if (one.Key == key || one.Key == "") && (one.Effect == v1.TaintEffectNoExecute || one.Effect == "") {
			return
		}
	}
	seconds := int64(300)
	spec.Tolerations = append(spec.Tolerations, v1.Toleration{
		Key: key, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: &seconds,
	})
}

// fill gives the caches the objects of the case in random order.
func (c *cluster) fill(factory informers.SharedInformerFactory, random *rand.Rand) error {
	c.client.ClearActions()
	c.lost = make([]int, c.groups)
	c.cache = factory.Core().V1().Pods().Informer().GetIndexer()
	nodes := factory.Core().V1().Nodes().Informer().GetIndexer()
	for _, index := range random.Perm(len(c.nodes)) {
		if err := nodes.Add(c.nodes[index]); err != nil {
			return err
		}
	}
	now := time.Now()
	for _, index := range random.Perm(len(c.pods)) {
		if err := c.cache.Add(c.pods[index].at(now, random)); err != nil {
			return err
		}
	}
	return nil
}

// at is the pod with its times. An age is in whole seconds; pods of one age were created in any order.
func (m *member) at(now time.Time, random *rand.Rand) *v1.Pod {
	pod := m.pod
	pod.CreationTimestamp = metav1.NewTime(now)
	if m.age != nil {
		within := 200*time.Millisecond + time.Duration(random.Intn(600))*time.Millisecond
		pod.CreationTimestamp = metav1.NewTime(now.Add(-time.Duration(*m.age)*time.Second - within))
		pod.Status.StartTime = &pod.CreationTimestamp
	}
	return &pod
}

// evict notes the eviction; the pod stays until it is terminated, and the cache knows that.
func (c *cluster) evict(action clienttesting.Action) (bool, runtime.Object, error) {
	if action.GetSubresource() != "eviction" {
		return false, nil, nil
	}
	eviction := action.(clienttesting.CreateAction).GetObject().(*policy.Eviction)
	found, exists, err := c.cache.GetByKey(eviction.Namespace + "/" + eviction.Name)
	if err != nil || !exists {
		return true, nil, fmt.Errorf("pod %s is not in the cache: %v", eviction.Name, err)
	}
	pod := *found.(*v1.Pod)
	for _, member := range c.pods {
		if member.pod.UID == pod.UID {
			c.lost[member.group]++
		}
	}
	now := metav1.Now()
	pod.DeletionTimestamp = &now
	return true, nil, c.cache.Update(&pod)
}

// listPods answers from the cache, in its random order: the API server lists by name, and names are random.
func (c *cluster) listPods(action clienttesting.Action) (bool, runtime.Object, error) {
	list := &v1.PodList{}
	for _, item := range c.cache.List() {
		if pod := item.(*v1.Pod); pod.Namespace == action.GetNamespace() {
			list.Items = append(list.Items, *pod)
		}
	}
	return true, list, nil
}

func (c *cluster) listNamespaces(clienttesting.Action) (bool, runtime.Object, error) {
	list := &v1.NamespaceList{}
	for name := range c.namespaces {
		list.Items = append(list.Items, v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return true, list, nil
}
