"""What was found, for people and for programs: one report model, its published schema, and one module a format."""
