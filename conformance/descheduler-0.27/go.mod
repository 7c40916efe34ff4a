module kubeproof.dev/conformance/descheduler-0.27

go 1.20

require (
	kubeproof.dev/conformance/shared v0.0.0
	sigs.k8s.io/descheduler v0.27.1
)

replace kubeproof.dev/conformance/shared => ../shared
