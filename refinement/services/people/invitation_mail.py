"""Sends invitations by email."""

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
    """Send the link if the invitation has an email address. Return whether it was sent."""
    if not invitation.email:
        return False
    context = {"invitation": invitation, "link": link, "sender": request.user, "project": request.project}
    subject = render_to_string("refinement/people/mail/invitation_subject.txt", context)
    body = render_to_string("refinement/people/mail/invitation.txt", context)
    try:
        send_mail(" ".join(subject.split()), body, None, [invitation.email])
    except (SMTPException, OSError):
        logger.warning("invitation %s could not be sent by email", invitation.pk, exc_info=True)
        return False
    return True
