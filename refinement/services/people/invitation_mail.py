"""Invitations by mail."""

import logging
from smtplib import SMTPException

from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.views.decorators.debug import sensitive_variables

from refinement.access.projects import ProjectRequest
from refinement.models import Invitation

logger = logging.getLogger(__name__)


@sensitive_variables("link")
def invitation_mailed(request: ProjectRequest, invitation: Invitation, link: str) -> bool:
    """Whether the link is on its way; a mail server that fails leaves the link to be copied."""
    if not invitation.email:
        return False
    words = {"invitation": invitation, "link": link, "sender": request.user, "project": request.project}
    subject = render_to_string("refinement/people/mail/invitation_subject.txt", words)
    body = render_to_string("refinement/people/mail/invitation.txt", words)
    try:
        send_mail(" ".join(subject.split()), body, None, [invitation.email])
    except (SMTPException, OSError):
        logger.warning("the invitation %s could not be mailed", invitation.pk, exc_info=True)
        return False
    return True
