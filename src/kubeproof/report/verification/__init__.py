"""A verification as text, and the parts that its other formats share."""
