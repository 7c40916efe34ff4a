"""How control loops and events speak, and what they declare: views, actions, footprints, tags."""
