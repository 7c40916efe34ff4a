CAUGHT: dict[str, str] = {}
