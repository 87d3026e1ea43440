"""The screens: checkup, cause, logs, evidence, pages of text, help."""
