"""What the database keeps. Fields, constraints and simple properties; no decisions."""

from refinement.models.audit import AuditEntry
from refinement.models.bench import Bench, BenchCall, BenchStatus, BenchTrial, CandidateOrigin, TrialStatus
from refinement.models.calls import Call
from refinement.models.endpoints import Endpoint
from refinement.models.events import Event, EventKind
from refinement.models.live import LiveText
from refinement.models.metrics import MetricTotal
from refinement.models.people import Invitation, MemberRole, Membership, Project, SetupLink, User
from refinement.models.queue import MessageState, QueuedMessage
from refinement.models.rounds import CheckResult, Round, RoundOrigin, Verdict
from refinement.models.rubrics import Check, Criterion, ImmutableRow, Rubric, RubricVersion
from refinement.models.runs import Run, RunStatus, RunTag, SavedView
from refinement.models.sessions import SessionInfo
from refinement.models.workers import WorkerBeat

__all__ = [
    "AuditEntry",
    "Bench",
    "BenchCall",
    "BenchStatus",
    "BenchTrial",
    "Call",
    "CandidateOrigin",
    "Check",
    "CheckResult",
    "Criterion",
    "Endpoint",
    "Event",
    "EventKind",
    "ImmutableRow",
    "Invitation",
    "LiveText",
    "MemberRole",
    "Membership",
    "MessageState",
    "MetricTotal",
    "Project",
    "QueuedMessage",
    "Round",
    "RoundOrigin",
    "Rubric",
    "RubricVersion",
    "Run",
    "RunStatus",
    "RunTag",
    "SavedView",
    "SessionInfo",
    "SetupLink",
    "TrialStatus",
    "User",
    "Verdict",
    "WorkerBeat",
]
