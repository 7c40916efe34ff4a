// Package conformance keeps the upstream packages that the recording programs link in go.mod.
package conformance

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	_ "k8s.io/kubernetes/cmd/kube-scheduler/app"
	_ "k8s.io/kubernetes/pkg/controller/tainteviction"
	_ "k8s.io/kubernetes/pkg/scheduler"
	_ "kubeproof.dev/conformance/shared/lines"
)
