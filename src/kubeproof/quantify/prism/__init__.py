"""Programs and formulas in the PRISM language."""
