"""Administration of the instance: people, projects, endpoints, audit log."""

from django.urls import path

from refinement.views.system import administration, audit, connect, endpoints, prices

ENDPOINTS = "administration/endpoints/"

urlpatterns = [
    path("administration/", administration.people, name="administration"),
    path("administration/people/<int:person>/account/", administration.person_account, name="person_account"),
    path(
        "administration/people/<int:person>/administrator/",
        administration.person_administration,
        name="person_administrator",
    ),
    path(
        "administration/people/<int:person>/sign-in/",
        administration.sign_in_reset,
        name="person_sign_in_reset",
    ),
    path("administration/projects/", administration.projects, name="administration_projects"),
    path("administration/projects/<int:project>/adopt/", administration.adoption, name="project_adopt"),
    path("administration/system/", administration.system, name="administration_system"),
    path(f"{ENDPOINTS}new/", endpoints.endpoint_new, name="endpoint_new"),
    path(f"{ENDPOINTS}<slug:endpoint>/", endpoints.endpoint_page, name="endpoint_page"),
    path(f"{ENDPOINTS}<slug:endpoint>/remove/", endpoints.endpoint_removal, name="endpoint_remove"),
    path("connect/", connect.connect, name="connect"),
    path("administration/prices/", prices.prices, name="administration_prices"),
    path("administration/prices/<int:price>/remove/", prices.price_removal, name="price_remove"),
    path("administration/audit/", audit.instance_audit, name="administration_audit"),
    path("administration/audit/export/", audit.instance_audit_export, name="administration_audit_export"),
    path("p/<slug:slug>/audit/", audit.audit_log, name="audit_log"),
    path("p/<slug:slug>/audit/export/", audit.audit_export, name="audit_export"),
]
