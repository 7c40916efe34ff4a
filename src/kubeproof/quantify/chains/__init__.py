"""Explored clusters as decision processes and Markov automata."""
