"""Server-sent events for live pages."""
