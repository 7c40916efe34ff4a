"""The cluster with every pod and node by name: the oracle of the grouped model, and the language of counterexamples."""
