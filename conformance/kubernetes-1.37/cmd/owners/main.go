// Command owners records which pods the real StatefulSet, DaemonSet and Job controllers create and delete for the pods that
// they find.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"kubeproof.dev/conformance/shared/bubble"
	"kubeproof.dev/conformance/shared/lines"
)

const namespace = "default"

type given struct {
	StatefulSet *appsv1.StatefulSet `json:"statefulset"`
	DaemonSet   *appsv1.DaemonSet   `json:"daemonset"`
	Job         *batchv1.Job        `json:"job"`
	Nodes       []corev1.Node       `json:"nodes"`
	Pods        []pod               `json:"pods"`
}

// pod has times in seconds before now.
type pod struct {
	Name     string          `json:"name"`
	Updated  bool            `json:"updated"` // of the newest template
	Node     string          `json:"node"`
	Phase    corev1.PodPhase `json:"phase"`
	Ready    bool            `json:"ready"`
	Since    int64           `json:"since"` // ready, or finished
	Created  int64           `json:"created"`
	Ending   bool            `json:"ending"`
	Index    string          `json:"index"` // completion index
	Restarts int32           `json:"restarts"`
	Counted  bool            `json:"counted"` // by an earlier sync of its Job
}

type decision struct {
	Create []string `json:"create"`
	Delete []string `json:"delete"`
	Status []any    `json:"status,omitempty"`
}

func main() {
	klog.SetLogger(logr.Discard())
	lines.Run(func(line []byte) (made any, err error) {
		var given given
		if err := json.Unmarshal(line, &given); err != nil {
			return nil, err
		}
		world := newWorld()
		bubble.Run(func() {
			time.Sleep(24 * time.Hour) // so that times before now are after the zero of the clock
			switch {
			case given.StatefulSet != nil:
				err = recordStatefulSet(&given, world)
			case given.DaemonSet != nil:
				err = recordDaemonSet(&given, world)
			default:
				err = recordJob(&given, world)
			}
		})
		sort.Strings(world.made.Create)
		world.made.Delete = distinct(world.made.Delete)
		return world.made, err
	})
}

// distinct sorts names; a pod may be deleted twice in one sync.
func distinct(names []string) []string {
	sort.Strings(names)
	kept := []string{}
	for _, name := range names {
		if len(kept) == 0 || kept[len(kept)-1] != name {
			kept = append(kept, name)
		}
	}
	return kept
}

// recordStatefulSet lets the controller see the old template first, so that there are two revisions.
func recordStatefulSet(given *given, world *world) error {
	set := given.StatefulSet
	set.Namespace, set.UID, set.Generation = namespace, "owner", 1
	defaultStatefulSet(set)
	newest := set.Spec.Template.Spec.Containers[0].Image
	old, err := world.revision(set, "v0")
	if err != nil {
		return err
	}
	status := world.sets.List()[0].(*appsv1.StatefulSet).Status
	updated, err := world.revision(set, newest)
	if err != nil {
		return err
	}
	current := set.DeepCopy()
	current.Spec.Template.Spec.Containers[0].Image = newest
	current.Status = status
	world.sets.Update(current)
	kind := appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	for index := range given.Pods {
		object := given.Pods[index].object(metav1.NewControllerRef(current, kind))
		object.Labels["statefulset.kubernetes.io/pod-name"] = object.Name
		object.Labels[appsv1.ControllerRevisionHashLabelKey] = map[bool]string{true: updated, false: old}[given.Pods[index].Updated]
		object.Spec.Hostname, object.Spec.Subdomain = object.Name, current.Spec.ServiceName
		world.pods.Add(object)
	}
	world.made = decision{Create: []string{}, Delete: []string{}}
	world.describe = func(pod *corev1.Pod) string {
		if pod.Labels[appsv1.ControllerRevisionHashLabelKey] == updated {
			return pod.Name + " updated"
		}
		return pod.Name
	}
	return world.syncStatefulSet(namespace + "/" + set.Name)
}

// revision returns the name of the revision with that image, which one sync without pods creates.
func (world *world) revision(set *appsv1.StatefulSet, image string) (string, error) {
	known := map[string]bool{}
	for _, name := range world.revisions.ListKeys() {
		known[name] = true
	}
	if len(known) == 0 {
		world.sets.Add(set)
	}
	changed := world.sets.List()[0].(*appsv1.StatefulSet).DeepCopy()
	changed.Spec.Template.Spec.Containers[0].Image = image
	changed.Generation++
	world.sets.Update(changed)
	if err := world.syncStatefulSet(namespace + "/" + set.Name); err != nil {
		return "", err
	}
	for _, object := range world.revisions.List() {
		if name := object.(*appsv1.ControllerRevision).Name; !known[namespace+"/"+name] {
			return name, nil
		}
	}
	return world.sets.List()[0].(*appsv1.StatefulSet).Status.UpdateRevision, nil
}

func recordDaemonSet(given *given, world *world) error {
	set := given.DaemonSet
	set.Namespace, set.UID, set.Generation = namespace, "owner", 1
	defaultDaemonSet(set)
	world.daemonSets.Add(set)
	for index := range given.Nodes {
		world.nodes.Add(&given.Nodes[index])
	}
	hash := templateHash(&set.Spec.Template)
	for index := range given.Pods {
		object := given.Pods[index].object(metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet")))
		object.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = map[bool]string{true: hash, false: "old"}[given.Pods[index].Updated]
		world.pods.Add(object)
	}
	world.describe = func(pod *corev1.Pod) string {
		terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		return terms[0].MatchFields[0].Values[0]
	}
	return world.syncDaemonSet(namespace + "/" + set.Name)
}

func recordJob(given *given, world *world) error {
	job := given.Job
	job.Namespace, job.UID, job.Generation = namespace, "owner", 1
	job.Annotations = map[string]string{"batch.kubernetes.io/job-tracking": ""}
	begun := metav1.NewTime(time.Now().Add(-time.Hour))
	job.CreationTimestamp, job.Status.StartTime = begun, &begun
	job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	defaultJob(job)
	world.jobs.Add(job)
	for index := range given.Pods {
		object := given.Pods[index].object(metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job")))
		if !given.Pods[index].Counted {
			object.Finalizers = []string{batchv1.JobTrackingFinalizer}
		}
		if index := given.Pods[index].Index; index != "" {
			object.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
			object.Labels[batchv1.JobCompletionIndexAnnotation] = index
		}
		world.pods.Add(object)
	}
	world.describe = func(pod *corev1.Pod) string { return pod.Annotations[batchv1.JobCompletionIndexAnnotation] }
	if err := world.syncJob(namespace + "/" + job.Name); err != nil {
		return err
	}
	status := world.jobs.List()[0].(*batchv1.Job).Status
	world.made.Status = []any{status.Active, status.Succeeded, status.Failed}
	for _, condition := range status.Conditions {
		world.made.Status = append(world.made.Status, fmt.Sprint(condition.Type, " ", condition.Status, " ", condition.Reason))
	}
	return nil
}

func (given *pod) object(owner *metav1.OwnerReference) *corev1.Pod {
	before := func(seconds int64) metav1.Time {
		return metav1.NewTime(time.Now().Add(-time.Duration(seconds) * time.Second))
	}
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: given.Name, Namespace: namespace, UID: types.UID(given.Name), CreationTimestamp: before(given.Created),
		Labels: map[string]string{"app": "a"}, OwnerReferences: []metav1.OwnerReference{*owner},
	}}
	if given.Ending {
		deleted := before(0)
		object.DeletionTimestamp = &deleted
	}
	object.Spec.NodeName, object.Status.Phase = given.Node, given.Phase
	object.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	status := corev1.ContainerStatus{Name: "c", RestartCount: given.Restarts}
	if given.Phase == corev1.PodSucceeded || given.Phase == corev1.PodFailed {
		status.State.Terminated = &corev1.ContainerStateTerminated{FinishedAt: before(given.Since)}
	}
	object.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	if given.Ready {
		object.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: before(given.Since)}}
	}
	return object
}

func exitIf(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
