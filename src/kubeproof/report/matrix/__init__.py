"""The survival matrix in every format."""
