"""The rules of the loop, as pure functions of policy and history. No Django, I/O, clock or randomness."""
