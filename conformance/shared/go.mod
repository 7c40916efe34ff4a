module kubeproof.dev/conformance/shared

go 1.19
