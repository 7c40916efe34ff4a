package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// plan says what a run does. Kubeproof's counterexample decides the order of events.
type plan struct {
	Case          string            `json:"case"`
	Manifests     string            `json:"manifests"` // a folder
	Target        string            `json:"target"`    // Deployment/namespace/name
	StartDeployed bool              `json:"start_deployed"`
	Usage         []phase           `json:"usage"`
	Events        []event           `json:"events"`
	Stop          stopRule          `json:"stop"`
	DeschedulerS  float64           `json:"descheduler_interval_s"`
	StartupS      float64           `json:"startup_s"`
	EndingS       float64           `json:"ending_s"`
	AdmissionS    float64           `json:"admission_s"` // until a kubelet looks at a new pod
	MaintenanceS  float64           `json:"maintenance_s"`
	QuietS        float64           `json:"quiet_s"` // so long without an action counts as stable
	LimitS        float64           `json:"limit_s"`
	ManagerFlags  []string          `json:"manager_flags"`
	Shortened     map[string]string `json:"shortened"`
}

// event is one thing that operators or load do, each after the cluster has become stable.
type event struct {
	Kind     string         `json:"kind"`     // maintenance, cpu, apply
	Node     string         `json:"node"`     // maintenance: the node in the counterexample
	Pods     int            `json:"pods"`     // maintenance: how many of the target's pods it has there
	Percent  int            `json:"percent"`  // cpu: of the request
	Manifest map[string]any `json:"manifest"` // apply
}

// stopRule says when the case has shown what it shows.
type stopRule struct {
	Kind  string `json:"kind"` // pods-above, pods-below, ready-below, unschedulable, evictions, creations
	Count int    `json:"count"`
}

func readPlan(path string) (*plan, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	read := &plan{}
	return read, json.Unmarshal(content, read)
}

func (p *plan) namespace() string { return strings.Split(p.Target, "/")[1] }

func (p *plan) quiet() time.Duration { return seconds(p.QuietS) }

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }

// objects are the manifests of a case by role.
type objects struct {
	nodes     []*core.Node
	before    []*unstructured.Unstructured // pods that are there from the start
	workloads []*unstructured.Unstructured
	watchers  []*unstructured.Unstructured // autoscalers: with a deployed start they come after it
	policy    []byte                       // of the descheduler
}

func readObjects(folder string) (*objects, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	read := &objects{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, document := range strings.Split("\n"+string(content), "\n---") {
			if err := read.add([]byte(document)); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return read, nil
}

func (o *objects) add(document []byte) error {
	content := map[string]any{}
	if err := yaml.Unmarshal(document, &content); err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: content}
	switch object.GetKind() {
	case "Node":
		node := &core.Node{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, node); err != nil {
			return err
		}
		o.nodes = append(o.nodes, node)
	case "Pod":
		unstructured.RemoveNestedField(content, "status")
		o.before = append(o.before, object)
	case "HorizontalPodAutoscaler":
		o.watchers = append(o.watchers, object)
	case "DeschedulerPolicy":
		o.policy = document
	case "Scenario", "":
	default:
		o.workloads = append(o.workloads, object)
	}
	return nil
}
