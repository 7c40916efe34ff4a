"""LTL, Büchi automata, their decomposition, and monitors; knows nothing of Kubernetes."""
