"""The API, on the same services and selectors as the pages. `routers.py` lists its parts."""
