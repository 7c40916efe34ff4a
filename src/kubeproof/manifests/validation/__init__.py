"""What an API server does to objects before it keeps them: names, fields, versions, admission."""
