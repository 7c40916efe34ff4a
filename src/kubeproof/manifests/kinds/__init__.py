"""One module per kind of Kubernetes object."""
