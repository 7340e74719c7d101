"""The API: the same services and selectors as the pages, for scripts. `routers.py` lists its parts."""
