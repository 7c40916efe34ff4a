"""Every size of an input, from small to large: which there are, which are trivial, what came of each."""
