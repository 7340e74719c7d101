"""Addresses of pages, one module for each part of the product; `refinement/urls.py` joins them."""
