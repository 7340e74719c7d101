"""Signals of execution, sent inside the transaction that records the change.

`services/announcements.py` listens to them, so that execution does not depend on notifications.
"""

from django.dispatch import Signal

run_ended = Signal()  # sender: Run; run, outcome
run_asking = Signal()  # sender: Run; run, round. It is paused until a person decides
run_waiting = Signal()  # sender: Run; run, reason, endpoint. Sent once per step, not for each retry
