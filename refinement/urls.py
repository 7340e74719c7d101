"""All page URLs, from `refinement/views/<noun>/urls.py`."""

from refinement.views.account import urls as account
from refinement.views.comments import urls as comments
from refinement.views.experiments import urls as experiments
from refinement.views.failures import urls as failures
from refinement.views.help import urls as help_pages
from refinement.views.imports import urls as imports
from refinement.views.labels import urls as labels
from refinement.views.measurements import urls as measurements
from refinement.views.notices import urls as notices
from refinement.views.people import urls as people
from refinement.views.projects import urls as projects
from refinement.views.reviews import urls as reviews
from refinement.views.rubrics import urls as rubrics
from refinement.views.runs import urls as runs
from refinement.views.sharing import urls as sharing
from refinement.views.suites import urls as suites
from refinement.views.system import urls as system
from refinement.views.trust import urls as trust
from refinement.views.webhooks import urls as webhooks

urlpatterns = [
    *projects.urlpatterns,
    *account.urlpatterns,
    *help_pages.urlpatterns,
    *notices.urlpatterns,
    *people.urlpatterns,
    *system.urlpatterns,
    *sharing.urlpatterns,
    *webhooks.urlpatterns,
    *reviews.urlpatterns,
    *rubrics.urlpatterns,
    *suites.urlpatterns,
    *experiments.urlpatterns,
    *trust.urlpatterns,
    *labels.urlpatterns,
    *measurements.urlpatterns,
    *imports.urlpatterns,
    *runs.urlpatterns,
    *failures.urlpatterns,
    *comments.urlpatterns,
]
