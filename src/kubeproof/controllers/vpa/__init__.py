"""The vertical pod autoscaler: recommends requests, evicts pods that are far off, sets requests of new ones."""
