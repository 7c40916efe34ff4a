"""kube-scheduler: plugin framework and plugins."""
