"""Who may refuse a pod: kubelets, quotas, limit ranges."""
