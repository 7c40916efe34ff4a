"""The published Real-Time ABS model of Kubernetes, with its experiments."""
