"""How likely, how much: probabilistic models of clusters and autoscalers, answered by Storm."""
