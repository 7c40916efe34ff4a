"""Path properties: names, predicates, automata."""
