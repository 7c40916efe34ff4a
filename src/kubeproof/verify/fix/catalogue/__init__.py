"""Edits, one module per mechanism: what a manifest lets one change about it, and what each change costs."""
