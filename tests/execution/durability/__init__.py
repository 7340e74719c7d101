"""What becomes of runs when processes, connections and servers fail: real processes, real services."""
