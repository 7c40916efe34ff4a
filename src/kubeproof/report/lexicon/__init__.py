"""What `kubeproof explain` knows: properties, events, error codes, verdicts."""
