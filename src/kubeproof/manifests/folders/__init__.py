"""What lies in the paths of an input: files, charts, kustomizations, variants."""
