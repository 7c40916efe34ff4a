package main

import (
	"bytes"
	"encoding/json"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// action is one thing that somebody did to an object, as the API server saw it.
type action struct {
	T      float64 `json:"t"` // seconds since the workloads were created, when the request came in
	Who    string  `json:"who"`
	Verb   string  `json:"verb"`
	Object string  `json:"object"`
	Node   string  `json:"node,omitempty"`
	From   *int    `json:"from,omitempty"`
	To     *int    `json:"to,omitempty"`
	Why    string  `json:"why,omitempty"`
	at     time.Time
}

// auditEvent is the part of an audit.k8s.io/v1 event that actions are made of.
type auditEvent struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource, Subresource, Namespace, Name string
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestObject  map[string]any `json:"requestObject"`
	ResponseObject map[string]any `json:"responseObject"`
	Received       meta.MicroTime `json:"requestReceivedTimestamp"`
}

// Who acts, by the name it signs in with. Taint eviction shares its account with the node lifecycle controller, which
// deletes no pods.
var actors = map[string]string{
	"system:kube-scheduler":                                       "scheduler",
	"system:serviceaccount:kube-system:replicaset-controller":     "replicaset",
	"system:serviceaccount:kube-system:deployment-controller":     "deployment",
	"system:serviceaccount:kube-system:horizontal-pod-autoscaler": "hpa",
	"system:serviceaccount:kube-system:node-controller":           "taint-eviction",
	"system:serviceaccount:kube-system:pod-garbage-collector":     "pod-gc",
	userDriver: "user", userDrain: "drain", userKubelet: "kubelet", userDescheduler: "descheduler",
}

// recorder turns the audit log into actions. Requests are ordered by arrival: whatever reacts to a change asks later
// than the one who caused it. Only the scheduler's are not in the order of its decisions: it decides on one pod after
// the other, but sends the bindings in parallel. A binding counts from the moment at which the pod was taken up.
type recorder struct {
	path  string
	taken func() map[string][]time.Time // by pod, when the scheduler took it up

	mutex    sync.Mutex
	offset   int64
	begin    time.Time
	found    []action
	replicas map[string]int    // of ReplicaSets, to leave out updates that keep them
	homes    map[string]string // nodes of pods
}

func newRecorder(path string, taken func() map[string][]time.Time) *recorder {
	return &recorder{path: path, taken: taken, replicas: map[string]int{}, homes: map[string]string{}}
}

// start makes now the zero of the clock; what was before is left out.
func (r *recorder) start() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.begin = time.Now()
}

// note records something that is no request: a change of load.
func (r *recorder) note(made action) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	made.at = time.Now()
	r.found = append(r.found, made)
}

// actions are all until now, in order.
func (r *recorder) actions() []action {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.read()
	sorted := []action{}
	taken := r.taken()
	for _, made := range r.found {
		if made.Verb == "bind" {
			made.at = lastBefore(taken[made.Object], made.at)
		}
		if made.at.Before(r.begin) {
			continue
		}
		made.T = float64(made.at.Sub(r.begin).Milliseconds()) / 1000
		if made.Node == "" && made.Verb != "create" {
			made.Node = r.homes[made.Object]
		}
		sorted = append(sorted, made)
	}
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].at.Before(sorted[j].at) })
	return sorted
}

// read takes in the complete lines that were added to the log.
func (r *recorder) read() {
	file, err := os.Open(r.path)
	if err != nil {
		return
	}
	defer file.Close()
	if _, err := file.Seek(r.offset, 0); err != nil {
		return
	}
	buffer := &bytes.Buffer{}
	_, _ = buffer.ReadFrom(file)
	end := bytes.LastIndexByte(buffer.Bytes(), '\n')
	if end < 0 {
		return
	}
	r.offset += int64(end) + 1
	for _, line := range bytes.Split(buffer.Bytes()[:end], []byte("\n")) {
		event := auditEvent{}
		if json.Unmarshal(line, &event) == nil && event.ResponseStatus.Code < 300 {
			r.take(&event)
		}
	}
}

// lastBefore is the last of the moments before another, or that one if there is none.
func lastBefore(moments []time.Time, end time.Time) time.Time {
	found := end
	for _, moment := range moments {
		if moment.Before(end) {
			found = moment
		}
	}
	return found
}

func (r *recorder) take(event *auditEvent) {
	who, known := actors[event.User.Username]
	if !known {
		who = event.User.Username
	}
	made := action{Who: who, at: event.Received.Time}
	var counts bool
	switch event.ObjectRef.Resource {
	case "pods":
		counts = r.takePod(event, &made)
	case "replicasets":
		counts = r.takeReplicaSet(event, &made)
	case "deployments":
		counts = takeDeployment(event, &made)
	case "nodes":
		counts = takeNode(event, &made)
	}
	if counts {
		r.found = append(r.found, made)
	}
}

func (r *recorder) takePod(event *auditEvent, made *action) bool {
	name := event.ObjectRef.Name
	if name == "" {
		name = text(event.ResponseObject, "metadata", "name")
	}
	made.Object = "Pod/" + event.ObjectRef.Namespace + "/" + name
	switch event.ObjectRef.Subresource + " " + event.Verb {
	case " create":
		made.Verb, made.Node = "create", text(event.ResponseObject, "spec", "nodeName")
	case "binding create":
		made.Verb, made.Node = "bind", text(event.RequestObject, "target", "name")
	case "eviction create":
		made.Verb = "evict"
	case " delete":
		made.Verb = "delete"
		if made.Who == "kubelet" {
			made.Verb = "end"
		}
	case "status patch":
		made.Verb, made.Why = podReport(made.Who, event.RequestObject)
	}
	if made.Node != "" {
		r.homes[made.Object] = made.Node
	}
	return made.Verb != ""
}

// podReport reads what a kubelet or the scheduler reports about a pod; "" for the rest.
func podReport(who string, body map[string]any) (verb, why string) {
	switch {
	case who == "kubelet" && text(body, "status", "phase") == "Running":
		return "start", ""
	case who == "kubelet" && text(body, "status", "phase") == "Failed":
		return "reject", text(body, "status", "reason")
	case who == "scheduler":
		status, _ := body["status"].(map[string]any)
		conditions, _ := status["conditions"].([]any)
		for _, entry := range conditions {
			condition, _ := entry.(map[string]any)
			if condition["reason"] == "Unschedulable" {
				return "cannot-place", text(condition, "message")
			}
		}
	}
	return "", ""
}

func (r *recorder) takeReplicaSet(event *auditEvent, made *action) bool {
	if event.ObjectRef.Subresource != "" || (event.Verb != "create" && event.Verb != "update") {
		return false
	}
	made.Verb = "scale"
	made.Object = "ReplicaSet/" + event.ObjectRef.Namespace + "/" + text(event.ResponseObject, "metadata", "name")
	wanted := number(event.ResponseObject, "spec", "replicas")
	before, existed := r.replicas[made.Object]
	r.replicas[made.Object] = wanted
	if existed && before == wanted {
		return false
	}
	if existed {
		made.From = &before
	}
	made.To = &wanted
	return true
}

func takeDeployment(event *auditEvent, made *action) bool {
	made.Object = "Deployment/" + event.ObjectRef.Namespace + "/" + event.ObjectRef.Name
	wanted := number(event.ResponseObject, "spec", "replicas")
	made.To = &wanted
	switch {
	case event.ObjectRef.Subresource == "scale":
		made.Verb = "scale"
	case made.Who == "user" && event.Verb == "create":
		made.Verb = "create"
		made.Object = "Deployment/" + event.ObjectRef.Namespace + "/" + text(event.ResponseObject, "metadata", "name")
	case made.Who == "user" && event.Verb == "patch":
		made.Verb = "apply"
	}
	return made.Verb != ""
}

func takeNode(event *auditEvent, made *action) bool {
	if made.Who != "drain" {
		return false
	}
	made.Object, made.Node = "Node/"+event.ObjectRef.Name, event.ObjectRef.Name
	spec, _ := event.RequestObject["spec"].(map[string]any)
	made.Verb = "uncordon"
	if spec["unschedulable"] == true {
		made.Verb = "cordon"
	}
	return true
}

func text(object map[string]any, path ...string) string {
	found, _ := value(object, path).(string)
	return found
}

func number(object map[string]any, path ...string) int {
	found, _ := value(object, path).(float64)
	return int(found)
}

func value(object map[string]any, path []string) any {
	var current any = object
	for _, key := range path {
		inner, _ := current.(map[string]any)
		current = inner[key]
	}
	return current
}

// census is what the actions so far have made of the target's pods.
type census struct {
	pods, ready, unplaced, evictions, creations int
	homes                                       map[string]int // pods per node
}

// count follows the actions on pods of the target: names begin with the Deployment's.
func count(actions []action, target string) census {
	prefix := "Pod/" + strings.TrimPrefix(target, "Deployment/") + "-"
	alive, ready, unplaced := map[string]string{}, map[string]bool{}, map[string]bool{}
	total := census{homes: map[string]int{}}
	for _, made := range actions {
		if !strings.HasPrefix(made.Object, prefix) {
			continue
		}
		switch made.Verb {
		case "create":
			alive[made.Object] = made.Node
			total.creations++
		case "bind":
			alive[made.Object] = made.Node
			delete(unplaced, made.Object)
		case "start":
			if _, exists := alive[made.Object]; exists {
				ready[made.Object] = true
			}
		case "cannot-place":
			unplaced[made.Object] = true
		case "evict", "delete", "reject":
			if _, exists := alive[made.Object]; exists && made.Verb == "evict" {
				total.evictions++
			}
			delete(alive, made.Object)
			delete(ready, made.Object)
			delete(unplaced, made.Object)
		}
	}
	total.pods, total.ready, total.unplaced = len(alive), len(ready), len(unplaced)
	for _, node := range alive {
		total.homes[node]++
	}
	return total
}
