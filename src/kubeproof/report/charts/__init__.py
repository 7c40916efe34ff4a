"""Charts as shapes on a plane: laid out once, written as SVG, and drawn in pages in the colours of the house."""
