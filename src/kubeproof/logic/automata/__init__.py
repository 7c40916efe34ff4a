"""Büchi automata: made from formulas, combined, split."""
