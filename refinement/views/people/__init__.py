"""Pages about members, invitations and joining."""
