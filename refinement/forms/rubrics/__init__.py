"""The rubric editor's form: fields to definition and back, and merging two edits."""
