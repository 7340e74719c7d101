"""What execution announces: both signals are sent inside the transaction that records the change.

`services/announcements.py` listens, so that execution need not know who wants to hear of a run.
"""

from django.dispatch import Signal

run_ended = Signal()  # sender: Run; run, outcome
run_waiting = Signal()  # sender: Run; run, reason, endpoint. Sent once for a step, not for each retry
