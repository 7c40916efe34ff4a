"""Reports about networks that change."""
