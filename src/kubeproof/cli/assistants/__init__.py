"""Tools for assistants: what `kubeproof mcp` serves, and what keeps it inside of its folder and its limits."""
