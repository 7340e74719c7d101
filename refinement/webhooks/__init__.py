"""Webhook delivery: allowed addresses, signatures and sending."""
