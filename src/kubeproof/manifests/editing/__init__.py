"""Changes of manifests: as values, as text in which every other byte stays, as patches."""
