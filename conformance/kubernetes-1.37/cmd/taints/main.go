// Command taints records which pods the real taint eviction deletes, and in which second, while the taints of their node
// change.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/core"
	conversion "k8s.io/kubernetes/pkg/apis/core/v1"

	"kubeproof.dev/conformance/shared/bubble"
	"kubeproof.dev/conformance/shared/lines"
)

const (
	nodeName = "n"
	horizon  = 5000 * time.Second
)

type history struct {
	Pods   []corev1.Pod `json:"pods"`
	Events []event      `json:"events"`
}

// event is one change, at a second of its own.
type event struct {
	At          int                 `json:"at"`
	Taints      *[]corev1.Taint     `json:"taints"`      // of the node from now on
	Arrives     *int                `json:"arrives"`     // this pod is bound to the node
	Tolerations []corev1.Toleration `json:"tolerations"` // added to the pod that Gets names
	Gets        *int                `json:"gets"`
}

type recorder struct {
	pods    cache.Indexer
	nodes   cache.Indexer
	begun   time.Time
	deleted map[string]int // second of the first deletion, by name
}

func main() {
	klog.SetLogger(logr.Discard()) // every deletion is logged
	lines.Run(func(line []byte) (decision any, err error) {
		var given history
		if err := json.Unmarshal(line, &given); err != nil {
			return nil, err
		}
		client := fake.NewSimpleClientset()
		factory := informers.NewSharedInformerFactory(client, 0)
		run := &recorder{
			pods: factory.Core().V1().Pods().Informer().GetIndexer(), nodes: factory.Core().V1().Nodes().Informer().GetIndexer(),
			deleted: map[string]int{},
		}
		client.PrependReactor("*", "*", run.react)
		eviction := newEviction(client, factory, run.pods)
		for index := range given.Pods {
			given.Pods[index].Namespace = "default"
			if err := admit(&given.Pods[index]); err != nil {
				return nil, err
			}
		}
		bubble.Run(func() { decision = run.record(&given, eviction) })
		return decision, nil
	})
}

// admit lets the API server's admission add its tolerations.
func admit(pod *corev1.Pod) error {
	var internal core.Pod
	if err := conversion.Convert_v1_Pod_To_core_Pod(pod, &internal, nil); err != nil {
		return err
	}
	attributes := admission.NewAttributesRecord(
		&internal, nil, core.Kind("Pod").WithVersion("version"), pod.Namespace, pod.Name,
		core.Resource("pods").WithVersion("version"), "", admission.Create, nil, false, nil)
	if err := newAdmission().Admit(context.Background(), attributes, nil); err != nil {
		return err
	}
	return conversion.Convert_core_Pod_To_v1_Pod(&internal, pod, nil)
}

// react notes deletions; pods go on to be listed, as terminating ones are.
func (run *recorder) react(action testing.Action) (bool, runtime.Object, error) {
	switch action.GetVerb() {
	case "delete":
		name := action.(testing.DeleteAction).GetName()
		if _, again := run.deleted[name]; !again {
			run.deleted[name] = int(time.Since(run.begun) / time.Second)
		}
		return true, nil, nil
	case "get":
		pod, _, err := run.pods.GetByKey("default/" + action.(testing.GetAction).GetName())
		return true, pod.(*corev1.Pod).DeepCopy(), err
	case "patch":
		return true, &corev1.Pod{}, nil
	}
	fmt.Fprintf(os.Stderr, "unexpected request %s %s\n", action.GetVerb(), action.GetResource().Resource)
	os.Exit(1)
	return true, nil, nil
}

// record returns the second in which each pod is deleted, or null. Every event has a millisecond of its own, so that no
// deletion falls into the same moment as another event.
func (run *recorder) record(given *history, eviction *controller) any {
	run.begun = time.Now()
	node := &corev1.Node{}
	node.Name = nodeName
	run.nodes.Add(node)
	for index, event := range given.Events {
		moment := time.Duration(event.At)*time.Second + time.Duration(index+1)*time.Millisecond
		time.Sleep(moment - time.Since(run.begun))
		run.happen(&event, given.Pods, eviction)
	}
	time.Sleep(horizon)
	seconds := make([]any, len(given.Pods))
	for index := range given.Pods {
		if second, found := run.deleted[given.Pods[index].Name]; found {
			seconds[index] = second
		}
	}
	return seconds
}

func (run *recorder) happen(event *event, pods []corev1.Pod, eviction *controller) {
	ctx := context.Background()
	switch {
	case event.Taints != nil:
		node := &corev1.Node{}
		node.Name, node.Spec.Taints = nodeName, *event.Taints
		run.nodes.Update(node)
		handleNodeUpdate(eviction, ctx, nodeUpdate{nodeName})
	case event.Arrives != nil:
		pod := pods[*event.Arrives].DeepCopy()
		pod.Spec.NodeName = nodeName
		run.pods.Add(pod)
		handlePodUpdate(eviction, ctx, podUpdate{pod.Name, pod.Namespace, nodeName})
	default:
		listed, _, _ := run.pods.GetByKey("default/" + pods[*event.Gets].Name)
		pod := listed.(*corev1.Pod).DeepCopy()
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, event.Tolerations...)
		run.pods.Update(pod)
		handlePodUpdate(eviction, ctx, podUpdate{pod.Name, pod.Namespace, nodeName})
	}
}
