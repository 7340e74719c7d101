from django.apps import AppConfig


class RefinementConfig(AppConfig):
    name = "refinement"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect signal handlers."""
        from allauth.account.signals import password_reset
        from django.contrib.auth.signals import user_logged_in

        from refinement.adapters import on_password_reset
        from refinement.services import announcements
        from refinement.services.people import sign_in_log
        from refinement.services.people.sessions import on_signed_in

        user_logged_in.connect(on_signed_in, dispatch_uid="refinement.sessions")
        password_reset.connect(on_password_reset, dispatch_uid="refinement.limits")
        sign_in_log.connect()
        announcements.connect()
