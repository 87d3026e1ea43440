"""Step kinds, one file each: how an action of `doctor.fix` is looked at on a machine and becomes changes (docs/fixes.md)."""
