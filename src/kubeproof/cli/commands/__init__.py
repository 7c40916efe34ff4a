"""One module per subcommand, under its name."""
