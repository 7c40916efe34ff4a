// Package conformance keeps the upstream packages that the recording programs link in go.mod.
package conformance

import (
	_ "k8s.io/kubernetes/pkg/controller/daemon"
	_ "k8s.io/kubernetes/pkg/controller/deployment"
	_ "k8s.io/kubernetes/pkg/controller/disruption"
	_ "k8s.io/kubernetes/pkg/controller/job"
	_ "k8s.io/kubernetes/pkg/controller/nodelifecycle"
	_ "k8s.io/kubernetes/pkg/controller/podautoscaler"
	_ "k8s.io/kubernetes/pkg/controller/replicaset"
	_ "k8s.io/kubernetes/pkg/controller/statefulset"
	_ "k8s.io/kubernetes/pkg/scheduler"
	_ "kubeproof.dev/conformance/shared/lines"
)
