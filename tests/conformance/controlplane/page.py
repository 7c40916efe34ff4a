def page() -> str: return ""
