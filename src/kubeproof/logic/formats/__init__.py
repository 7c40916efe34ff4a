"""Automata as text: HOA and DOT."""
