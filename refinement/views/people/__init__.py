"""Pages about people: members, invitations, sessions, administration, the audit log."""
