"""Users, projects, memberships and invitations."""

import re
from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone


def initials_of(name: str) -> str:
    """One or two letters for an avatar."""
    words = re.findall(r"\w+", name)
    return "".join(word[0] for word in words[:2]).upper() or "?"


class UserManager(BaseUserManager["User"]):
    """Users are identified by their email address; there is no user name."""

    def create_user(self, email: str, password: str | None = None, **fields: object) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: object) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)


class User(AbstractBaseUser, PermissionsMixin):
    """An account on this instance. `is_superuser` marks administrators."""

    email = models.EmailField("email", max_length=254, unique=True)
    name = models.CharField(max_length=120, blank=True)
    time_zone = models.CharField(max_length=64, blank=True)  # empty: the browser's
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    date_joined = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(Lower("email"), name="user_email_unique_case_insensitive")
        ]

    def __str__(self) -> str:
        return self.display_name

    @property
    def display_name(self) -> str:
        return self.name or self.email.partition("@")[0]

    @property
    def initials(self) -> str:
        """One or two letters for the avatar."""
        return initials_of(self.display_name)


class Project(models.Model):
    """A team's space. Everything else belongs to one."""

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    blind_scores = models.BooleanField(default=False)  # people score before they see others' scores
    sharing = models.BooleanField(default=True)  # share links are enabled
    # The budget for runs launched in a calendar month; None for no limit.
    monthly_cost = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    monthly_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    # What a judge must have before its PASS counts in gates and badges; all empty for no rule.
    gate_labels = models.PositiveIntegerField(null=True, blank=True)
    gate_kappa = models.DecimalField(max_digits=4, decimal_places=3, null=True, blank=True)
    gate_like_people = models.BooleanField(default=False)  # not worse than people agree with each other
    members: "models.ManyToManyField[User, Membership]" = models.ManyToManyField(
        User, through="Membership", related_name="projects"
    )

    class Meta:
        ordering: ClassVar = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class MemberRole(models.TextChoices):
    VIEWER = "viewer", "Viewer"
    EDITOR = "editor", "Editor"
    OWNER = "owner", "Owner"


class Membership(models.Model):
    """A person's role in a project."""

    Role = MemberRole

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=MemberRole)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_unique"),
            models.CheckConstraint(
                condition=models.Q(role__in=MemberRole.values), name="membership_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.project} ({self.role})"

    @property
    def can_edit(self) -> bool:
        return self.role in (MemberRole.EDITOR, MemberRole.OWNER)

    @property
    def is_owner(self) -> bool:
        return self.role == MemberRole.OWNER


class SetupLink(models.Model):
    """The one-time link that creates the first account. Only its digest is stored."""

    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"setup link of {self.created_at:%Y-%m-%d %H:%M}"


class Invitation(models.Model):
    """A one-time link that adds a person to a project with a role. Only its token's digest is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=MemberRole)
    digest = models.CharField(max_length=64, unique=True)
    email = models.EmailField("sent to", max_length=254, blank=True)
    note = models.CharField(max_length=120, blank=True)  # whom it is for
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(role__in=MemberRole.values), name="invitation_role_known"
            ),
            models.CheckConstraint(
                condition=models.Q(used_at__isnull=True) | models.Q(revoked_at__isnull=True),
                name="invitation_used_or_revoked",
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} to {self.project} ({self.role})"

    @property
    def state(self) -> str:
        """`used`, `revoked`, `expired` or `open`."""
        if self.used_at:
            return "used"
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else "open"
