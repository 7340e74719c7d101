#!/usr/bin/env python
"""Django's command-line entry point."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wiggum_site.settings")
    execute_from_command_line(sys.argv)
