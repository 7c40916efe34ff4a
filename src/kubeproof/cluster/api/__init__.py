"""How Kubernetes writes things: versions, quantities, selectors."""
