"""Reads the eval files of promptfoo and AgentV."""
