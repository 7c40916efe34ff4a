"""Path properties of networks: snapshots of match-action rules, checked with the automata of `logic`."""
