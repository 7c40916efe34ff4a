"""What happens to nodes: they are closed, drained, fail, come and go."""
