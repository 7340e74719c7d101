"""Members and invitations, the audit log, sessions, and the administration of the instance."""

from django.urls import path

from refinement.views.people import administration, audit, endpoints, invitations, join, members, sessions

MEMBERS = "p/<slug:slug>/members/"
ENDPOINTS = "administration/endpoints/"

urlpatterns = [
    path(MEMBERS, members.member_list, name="member_list"),
    path(f"{MEMBERS}leave/", members.member_leaving, name="member_leave"),
    path(f"{MEMBERS}<int:member>/role/", members.member_role, name="member_role"),
    path(f"{MEMBERS}<int:member>/remove/", members.member_removal, name="member_remove"),
    path(f"{MEMBERS}invite/", invitations.invitation_create, name="invitation_create"),
    path(
        f"{MEMBERS}invitations/<int:invitation>/revoke/",
        invitations.invitation_revocation,
        name="invitation_revoke",
    ),
    path("p/<slug:slug>/audit/", audit.audit_log, name="audit_log"),
    path("p/<slug:slug>/audit/export/", audit.audit_export, name="audit_export"),
    path("join/<str:token>/", join.join, name="join"),
    path("account/sessions/<int:session>/end/", sessions.session_revocation, name="session_end"),
    path("account/sessions/end-others/", sessions.other_sessions_revocation, name="sessions_end_others"),
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
    path("administration/audit/", audit.instance_audit, name="administration_audit"),
    path("administration/audit/export/", audit.instance_audit_export, name="administration_audit_export"),
]
