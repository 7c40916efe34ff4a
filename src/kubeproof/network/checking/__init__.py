"""Products of forwarding and automata, bad endings, and runs that show them."""
