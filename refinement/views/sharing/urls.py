"""Share links: managed by editors, open to anyone with the link."""

from django.urls import path

from refinement.views.sharing import links, shared

urlpatterns = [
    path("s/<str:token>/", shared.shared_run, name="shared_run"),
    path("s/<str:token>/<int:number>/", shared.shared_run, name="shared_round"),
    path("p/<slug:slug>/runs/<int:run>/share/", links.run_share, name="run_share"),
    path("p/<slug:slug>/share/<int:link>/revoke/", links.share_revocation, name="share_revoke"),
]
