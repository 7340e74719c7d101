"""The edits, one kind a module. Each `make` answers a changed copy, or None if there is nothing to edit."""
