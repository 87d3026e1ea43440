"""Support bundles: what they hold, what is masked in them, how those of others are read, and what differs between two machines."""
