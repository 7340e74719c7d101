"""Compares clocks."""

from datetime import UTC, datetime

from refinement.cli.doctor.findings import Finding, fail, ok, warn

# Leases last 15 seconds and are compared with each machine's clock.
SKEW_SECONDS = 2.0
BAD_SKEW_SECONDS = 10.0
SET_CLOCKS = "Enable NTP on both machines: timedatectl set-ntp true"


def clock_finding(name: str, whose: str, there: float, here: float) -> Finding:
    """A finding about two clocks that were read at the same time."""
    apart = there - here
    if abs(apart) <= SKEW_SECONDS:
        return ok(name, f"{whose} has the same time as this machine")
    direction = "ahead of" if apart > 0 else "behind"
    moment = datetime.fromtimestamp(here, UTC)
    what = (
        f"the clock of {whose} is {abs(apart):.0f} s {direction} this machine's ({moment:%H:%M:%S} UTC here)"
    )
    finding = fail if abs(apart) > BAD_SKEW_SECONDS else warn
    return finding(name, what, SET_CLOCKS)
