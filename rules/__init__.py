"""The knowledge: one cause a file. Installed, and always imported, as the package `doctor.rules`."""

if __name__ != "doctor.rules":
    raise ImportError("import doctor.rules, not rules: loaded under two names, every rule would exist twice")
