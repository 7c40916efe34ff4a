module kubeproof.dev/conformance/descheduler-0.36

go 1.26.0

require sigs.k8s.io/descheduler v0.36.0
