"""The loop's rules: pure functions of policy and history. No Django, I/O, clock or randomness."""
