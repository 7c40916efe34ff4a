"""What a project keeps in `.kubeproof.yaml` and in annotations."""
