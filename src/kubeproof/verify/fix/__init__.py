"""The smallest change of the manifests that is proved to help: typed edits, a search over them, the verifier's word."""
