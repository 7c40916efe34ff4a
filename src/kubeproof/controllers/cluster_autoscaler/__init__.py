"""The cluster autoscaler: adds nodes for pods that fit nowhere, deletes nodes that are not needed."""
