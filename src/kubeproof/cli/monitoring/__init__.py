"""What `kubeproof monitor` watches: a cluster, streams of events, a share of the work."""
