"""The database models: fields, constraints and simple properties, no business logic."""

from refinement.models.failures.categories import (
    FailureCategory,
    FailureIssue,
    FailureNaming,
    FailureReading,
    FailureSuggestion,
    IssueKind,
)
from refinement.models.people.audit import AuditEntry
from refinement.models.people.identities import ExternalIdentity
from refinement.models.people.people import Invitation, MemberRole, Membership, Project, SetupLink, User
from refinement.models.people.sessions import SessionInfo
from refinement.models.people.tokens import ApiToken, IdempotencyKey
from refinement.models.reviews.comments import Comment, CommentEdit, Thread, ThreadPlace
from refinement.models.reviews.decisions import Decision, DecisionKind
from refinement.models.reviews.human_scores import BlindReading, HumanScore
from refinement.models.reviews.notices import Notice, NoticeChoice, NoticeKind
from refinement.models.reviews.reviews import ReviewRequest, ReviewRule, RuleKind
from refinement.models.rubrics.bench import (
    Bench,
    BenchCall,
    BenchStatus,
    BenchTrial,
    CandidateOrigin,
    TrialStatus,
)
from refinement.models.rubrics.proposals import ProposalCall, ProposalStatus, RubricProposal
from refinement.models.rubrics.rubrics import Check, Criterion, ImmutableRow, Rubric, RubricVersion
from refinement.models.runs.boards import BoardVerdict, PanelJudge
from refinement.models.runs.calls import Call, CallPurpose
from refinement.models.runs.evaluator_results import EvaluatorRepeat, EvaluatorResult, ValidationResult
from refinement.models.runs.evaluator_trials import (
    EvaluatorTrial,
    EvaluatorTrialResult,
    EvaluatorTrialStatus,
)
from refinement.models.runs.events import Event, EventKind
from refinement.models.runs.imports import ImportBatch, ImportFile, RunImport
from refinement.models.runs.ledger import FeedbackCorrection, FeedbackFate, FeedbackKind, RunLedger
from refinement.models.runs.live import LiveText
from refinement.models.runs.rounds import CheckResult, Round, RoundOrigin, Verdict
from refinement.models.runs.runs import Run, RunSource, RunStatus, RunTag, SavedView
from refinement.models.runs.shares import ShareLink
from refinement.models.runs.sources import Source
from refinement.models.runs.steering import Instruction
from refinement.models.suites.experiments import (
    CellState,
    Configuration,
    Experiment,
    ExperimentRun,
    ExperimentStatus,
)
from refinement.models.suites.suites import Suite, SuiteTask, SuiteVersion
from refinement.models.system.endpoints import Endpoint, ModelCheck
from refinement.models.system.metrics import MetricTotal
from refinement.models.system.prices import ModelPrice
from refinement.models.system.queue import MessageState, QueuedMessage
from refinement.models.system.reports import Report, ReportKind, ReportStatus
from refinement.models.system.webhooks import (
    DeliveryStatus,
    Webhook,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEvent,
    WebhookFormat,
)
from refinement.models.system.workers import WorkerBeat
from refinement.models.trust.judges import JudgeRecord
from refinement.models.trust.labels import Label, LabelItem, LabelRater, LabelSet
from refinement.models.trust.measurements import (
    Measurement,
    MeasurementItem,
    MeasurementKind,
    MeasurementStatus,
)

__all__ = [
    "ApiToken",
    "AuditEntry",
    "Bench",
    "BenchCall",
    "BenchStatus",
    "BenchTrial",
    "BlindReading",
    "BoardVerdict",
    "Call",
    "CallPurpose",
    "CandidateOrigin",
    "CellState",
    "Check",
    "CheckResult",
    "Comment",
    "CommentEdit",
    "Configuration",
    "Criterion",
    "Decision",
    "DecisionKind",
    "DeliveryStatus",
    "Endpoint",
    "EvaluatorRepeat",
    "EvaluatorResult",
    "EvaluatorTrial",
    "EvaluatorTrialResult",
    "EvaluatorTrialStatus",
    "Event",
    "EventKind",
    "Experiment",
    "ExperimentRun",
    "ExperimentStatus",
    "ExternalIdentity",
    "FailureCategory",
    "FailureIssue",
    "FailureNaming",
    "FailureReading",
    "FailureSuggestion",
    "FeedbackCorrection",
    "FeedbackFate",
    "FeedbackKind",
    "HumanScore",
    "IdempotencyKey",
    "ImmutableRow",
    "ImportBatch",
    "ImportFile",
    "Instruction",
    "Invitation",
    "IssueKind",
    "JudgeRecord",
    "Label",
    "LabelItem",
    "LabelRater",
    "LabelSet",
    "LiveText",
    "Measurement",
    "MeasurementItem",
    "MeasurementKind",
    "MeasurementStatus",
    "MemberRole",
    "Membership",
    "MessageState",
    "MetricTotal",
    "ModelCheck",
    "ModelPrice",
    "Notice",
    "NoticeChoice",
    "NoticeKind",
    "PanelJudge",
    "Project",
    "ProposalCall",
    "ProposalStatus",
    "QueuedMessage",
    "Report",
    "ReportKind",
    "ReportStatus",
    "ReviewRequest",
    "ReviewRule",
    "Round",
    "RoundOrigin",
    "Rubric",
    "RubricProposal",
    "RubricVersion",
    "RuleKind",
    "Run",
    "RunImport",
    "RunLedger",
    "RunSource",
    "RunStatus",
    "RunTag",
    "SavedView",
    "SessionInfo",
    "SetupLink",
    "ShareLink",
    "Source",
    "Suite",
    "SuiteTask",
    "SuiteVersion",
    "Thread",
    "ThreadPlace",
    "TrialStatus",
    "User",
    "ValidationResult",
    "Verdict",
    "Webhook",
    "WebhookAttempt",
    "WebhookDelivery",
    "WebhookEvent",
    "WebhookFormat",
    "WorkerBeat",
]
