"""What the database keeps. Fields, constraints and simple properties; no decisions."""

from refinement.models.audit import AuditEntry
from refinement.models.bench import Bench, BenchCall, BenchStatus, BenchTrial, CandidateOrigin, TrialStatus
from refinement.models.calls import Call
from refinement.models.comments import Comment, CommentEdit, Thread, ThreadPlace
from refinement.models.decisions import Decision, DecisionKind
from refinement.models.endpoints import Endpoint
from refinement.models.evaluator_results import EvaluatorResult
from refinement.models.events import Event, EventKind
from refinement.models.human_scores import BlindReading, HumanScore
from refinement.models.identities import ExternalIdentity
from refinement.models.imports import ImportBatch, ImportFile, RunImport
from refinement.models.live import LiveText
from refinement.models.metrics import MetricTotal
from refinement.models.notices import Notice, NoticeChoice, NoticeKind
from refinement.models.people import Invitation, MemberRole, Membership, Project, SetupLink, User
from refinement.models.queue import MessageState, QueuedMessage
from refinement.models.reviews import ReviewRequest, ReviewRule, RuleKind
from refinement.models.rounds import CheckResult, Round, RoundOrigin, Verdict
from refinement.models.rubrics import Check, Criterion, ImmutableRow, Rubric, RubricVersion
from refinement.models.runs import Run, RunSource, RunStatus, RunTag, SavedView
from refinement.models.sessions import SessionInfo
from refinement.models.shares import ShareLink
from refinement.models.steering import Instruction
from refinement.models.tokens import ApiToken, IdempotencyKey
from refinement.models.webhooks import DeliveryState, Webhook, WebhookAttempt, WebhookDelivery, WebhookEvent
from refinement.models.workers import WorkerBeat

__all__ = [
    "ApiToken",
    "AuditEntry",
    "Bench",
    "BenchCall",
    "BenchStatus",
    "BenchTrial",
    "BlindReading",
    "Call",
    "CandidateOrigin",
    "Check",
    "CheckResult",
    "Comment",
    "CommentEdit",
    "Criterion",
    "Decision",
    "DecisionKind",
    "DeliveryState",
    "Endpoint",
    "EvaluatorResult",
    "Event",
    "EventKind",
    "ExternalIdentity",
    "HumanScore",
    "IdempotencyKey",
    "ImmutableRow",
    "ImportBatch",
    "ImportFile",
    "Instruction",
    "Invitation",
    "LiveText",
    "MemberRole",
    "Membership",
    "MessageState",
    "MetricTotal",
    "Notice",
    "NoticeChoice",
    "NoticeKind",
    "Project",
    "QueuedMessage",
    "ReviewRequest",
    "ReviewRule",
    "Round",
    "RoundOrigin",
    "Rubric",
    "RubricVersion",
    "RuleKind",
    "Run",
    "RunImport",
    "RunSource",
    "RunStatus",
    "RunTag",
    "SavedView",
    "SessionInfo",
    "SetupLink",
    "ShareLink",
    "Thread",
    "ThreadPlace",
    "TrialStatus",
    "User",
    "Verdict",
    "Webhook",
    "WebhookAttempt",
    "WebhookDelivery",
    "WebhookEvent",
    "WorkerBeat",
]
