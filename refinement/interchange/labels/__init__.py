"""Label sets as files: ratings, items and judges that were recorded elsewhere."""
