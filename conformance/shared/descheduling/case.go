// Package descheduling reads the cases of the descheduler's corpora and collects what a cycle may evict.
package descheduling

import (
	"encoding/json"
	"fmt"
)

// Evictor is the plugin that every profile has, whether it is configured or not.
const Evictor = "DefaultEvictor"

// Old is the age in seconds of pods for which a case says nothing.
const Old = 1_000_000

var balancePlugins = map[string]bool{
	"RemoveDuplicates": true,
	"RemovePodsViolatingTopologySpreadConstraint": true,
	"LowNodeUtilization":                          true,
	"HighNodeUtilization":                         true,
}

// Case is one cluster with the policy of its descheduler.
type Case struct {
	Nodes     json.RawMessage `json:"nodes"`
	Workloads []Workload      `json:"workloads"`
	Pods      []Group         `json:"pods"`
	Profiles  [][]Plugin      `json:"profiles"`
	Policy    map[string]any  `json:"policy"`
	Older     Arguments       `json:"older"` // what only 0.27 accepts
	Newer     Arguments       `json:"newer"` // what only later versions accept
}

// Arguments by the name of their plugin, and fields of the policy itself under "policy".
type Arguments map[string]map[string]any

// Workload is the owner of equal pods; of kind Pod it owns nothing and is the pod itself.
type Workload struct {
	Kind      string          `json:"kind"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Template  json.RawMessage `json:"template"`
}

// Group is equal pods on one node: [workload, node or -1, count, state, restarts, age], the last three optional.
type Group struct {
	Workload, Node, Count int
	Terminating, Failed   bool
	Restarts              int32
	Age                   *int // seconds; nil: just created and not started
}

// UnmarshalJSON reads the list form.
func (g *Group) UnmarshalJSON(text []byte) error {
	old := Old
	g.Age = &old
	var state string
	fields := []any{&g.Workload, &g.Node, &g.Count, &state, &g.Restarts, &g.Age}
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		return err
	}
	for index, item := range items {
		if err := json.Unmarshal(item, fields[index]); err != nil {
			return err
		}
	}
	for _, letter := range state {
		g.Terminating = g.Terminating || letter == 't'
		g.Failed = g.Failed || letter == 'f'
	}
	return nil
}

// Plugin is a name with its arguments.
type Plugin struct {
	Name      string
	Arguments map[string]any
}

// UnmarshalJSON reads [name, arguments].
func (p *Plugin) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&p.Name, &p.Arguments})
}

// Document is the policy as a DeschedulerPolicy with these additions, Older or Newer.
func (c *Case) Document(additions Arguments) ([]byte, error) {
	profiles := []any{}
	for number, plugins := range c.Profiles {
		profiles = append(profiles, profile(fmt.Sprintf("p%d", number), plugins, additions))
	}
	document := map[string]any{"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": profiles}
	add(document, c.Policy, additions["policy"])
	return json.Marshal(document)
}

func profile(name string, plugins []Plugin, additions Arguments) map[string]any {
	configs := []any{}
	points := map[string][]string{"deschedule": {}, "balance": {}}
	for _, plugin := range plugins {
		arguments := map[string]any{}
		add(arguments, plugin.Arguments, additions[plugin.Name])
		configs = append(configs, map[string]any{"name": plugin.Name, "args": arguments})
		switch {
		case balancePlugins[plugin.Name]:
			points["balance"] = append(points["balance"], plugin.Name)
		case plugin.Name != Evictor:
			points["deschedule"] = append(points["deschedule"], plugin.Name)
		}
	}
	return map[string]any{"name": name, "pluginConfig": configs, "plugins": map[string]any{
		"deschedule": map[string]any{"enabled": points["deschedule"]},
		"balance":    map[string]any{"enabled": points["balance"]},
	}}
}

func add(target map[string]any, sources ...map[string]any) {
	for _, source := range sources {
		for key, value := range source {
			target[key] = value
		}
	}
}
