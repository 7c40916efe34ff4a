"""The offline page of a verification, and what is drawn on pages."""
