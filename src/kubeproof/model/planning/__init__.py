"""The parts that a plan is put together from; `kubeproof.model.plan` has them in order."""
