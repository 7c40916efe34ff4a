"""The nouns of a cluster: objects as read, states as they change, and nothing that decides."""
