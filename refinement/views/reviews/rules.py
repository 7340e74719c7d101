"""Rules that request reviews automatically."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.reviews.requests import ReviewRuleForm
from refinement.selectors.reviews.requests import rules_of
from refinement.services.reviews.rules import review_rule_create, review_rule_end


@require_http_methods(["GET", "HEAD", "POST"])
@project_view()
def review_rules(request: ProjectRequest) -> HttpResponse:
    """The active rules; editors and owners can add one."""
    can_edit = request.membership.can_edit
    if request.method != "POST":
        form = ReviewRuleForm(project=request.project, me=request.user) if can_edit else None
        return rules_page(request, form)
    if not can_edit:
        raise PermissionDenied(
            f"You are a viewer in {request.project.name}. Only editors and owners can create review rules."
        )
    form = ReviewRuleForm(request.POST, project=request.project, me=request.user)
    if not form.is_valid():
        return rules_page(request, form, status=422)
    try:
        review_rule_create(project=request.project, user=request.user, **form.values)
    except ValidationError as error:
        form.add_error(None, error)
        return rules_page(request, form, status=422)
    messages.success(request, "Rule created. It applies to runs that finish from now on.")
    return redirect("review_rules", request.project.slug)


def rules_page(request: ProjectRequest, form: ReviewRuleForm | None, *, status: int = 200) -> HttpResponse:
    context = {
        "section": "reviews",
        "tab": "rules",
        "rules": rules_of(request.project),
        "form": form,
        "can_edit": request.membership.can_edit,
    }
    return render(request, "refinement/reviews/rules.html", context, status=status)


@require_POST
@project_view(role="editor")
def review_rule_ending(request: ProjectRequest, rule: int) -> HttpResponse:
    """Ends the rule; its open requests stay."""
    if review_rule_end(project=request.project, number=rule, user=request.user):
        messages.success(request, "Rule deleted. Its open requests stay.")
    else:
        messages.warning(request, "The rule was already deleted.")
    return redirect("review_rules", request.project.slug)
