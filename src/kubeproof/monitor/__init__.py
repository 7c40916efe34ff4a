"""Properties at run time: rules mined from traces, and the streams that they watch."""
