"""Reads the assertions of promptfoo and AgentV."""
