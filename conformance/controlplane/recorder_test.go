package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// recorded gives the actions that lines of an audit log stand for.
func recorded(t *testing.T, taken map[string][]time.Time, lines ...string) []action {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.log")
	content := ""
	for _, line := range lines {
		content += line + "\n"
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return newRecorder(path, func() map[string][]time.Time { return taken }).actions()
}

func described(actions []action) []string {
	found := []string{}
	for _, made := range actions {
		text := made.Who + " " + made.Verb + " " + made.Object
		if made.Node != "" {
			text += " on " + made.Node
		}
		found = append(found, text)
	}
	return found
}

func expect(t *testing.T, actions []action, wanted ...string) {
	t.Helper()
	if found := described(actions); !reflect.DeepEqual(found, wanted) {
		t.Errorf("found %q, wanted %q", found, wanted)
	}
}

const (
	bindFirst = `{"verb":"create","user":{"username":"system:kube-scheduler"},"responseStatus":{"code":201},
"objectRef":{"resource":"pods","subresource":"binding","namespace":"shop","name":"web-1"},
"requestObject":{"target":{"name":"node-1"}},"requestReceivedTimestamp":"2026-01-01T00:00:02.000000Z"}`
	bindSecond = `{"verb":"create","user":{"username":"system:kube-scheduler"},"responseStatus":{"code":201},
"objectRef":{"resource":"pods","subresource":"binding","namespace":"shop","name":"web-2"},
"requestObject":{"target":{"name":"node-2"}},"requestReceivedTimestamp":"2026-01-01T00:00:01.000000Z"}`
	evictRefused = `{"verb":"create","user":{"username":"drain"},"responseStatus":{"code":429},
"objectRef":{"resource":"pods","subresource":"eviction","namespace":"shop","name":"web-1"},
"requestReceivedTimestamp":"2026-01-01T00:00:03.000000Z"}`
	evictGranted = `{"verb":"create","user":{"username":"drain"},"responseStatus":{"code":201},
"objectRef":{"resource":"pods","subresource":"eviction","namespace":"shop","name":"web-1"},
"requestReceivedTimestamp":"2026-01-01T00:00:04.000000Z"}`
)

// line puts a fixture on one line, as the API server writes it.
func line(text string) string {
	joined := ""
	for _, letter := range text {
		if letter != '\n' {
			joined += string(letter)
		}
	}
	return joined
}

func TestRequestsAreInTheOrderOfTheirArrival(t *testing.T) {
	actions := recorded(t, nil, line(bindFirst), line(bindSecond))

	expect(t, actions, "scheduler bind Pod/shop/web-2 on node-2", "scheduler bind Pod/shop/web-1 on node-1")
}

func TestABindingCountsFromWhenThePodWasTakenUp(t *testing.T) {
	zero := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	taken := map[string][]time.Time{"Pod/shop/web-1": {zero, zero.Add(time.Hour)}}

	actions := recorded(t, taken, line(bindFirst), line(bindSecond))

	expect(t, actions, "scheduler bind Pod/shop/web-1 on node-1", "scheduler bind Pod/shop/web-2 on node-2")
}

func TestARefusedRequestIsNoAction(t *testing.T) {
	actions := recorded(t, nil, line(bindFirst), line(evictRefused), line(evictGranted))

	expect(t, actions, "scheduler bind Pod/shop/web-1 on node-1", "drain evict Pod/shop/web-1 on node-1")
}

func TestAnUpdateThatKeepsTheSizeIsNoAction(t *testing.T) {
	update := `{"verb":"update","user":{"username":"system:serviceaccount:kube-system:deployment-controller"},` +
		`"responseStatus":{"code":200},"objectRef":{"resource":"replicasets","namespace":"shop","name":"web"},` +
		`"responseObject":{"metadata":{"name":"web"},"spec":{"replicas":3}},` +
		`"requestReceivedTimestamp":"2026-01-01T00:00:01.000000Z"}`

	actions := recorded(t, nil, update, update)

	expect(t, actions, "deployment scale ReplicaSet/shop/web")
}

func TestACensusCountsOnlyTheTarget(t *testing.T) {
	actions := []action{
		{Verb: "create", Object: "Pod/shop/web-1"}, {Verb: "create", Object: "Pod/shop/other-1"},
		{Verb: "bind", Object: "Pod/shop/web-1", Node: "node-1"}, {Verb: "start", Object: "Pod/shop/web-1"},
		{Verb: "create", Object: "Pod/shop/web-2"}, {Verb: "evict", Object: "Pod/shop/web-2"},
	}

	found := count(actions, "Deployment/shop/web")

	wanted := census{pods: 1, ready: 1, evictions: 1, creations: 2, homes: map[string]int{"node-1": 1}}
	if !reflect.DeepEqual(found, wanted) {
		t.Errorf("found %+v, wanted %+v", found, wanted)
	}
}
