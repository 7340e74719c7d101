"""Tests of runs when processes, connections and servers fail, with real processes and services."""
