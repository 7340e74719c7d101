"""The rubric editor's form: a definition as fields, fields as a definition, and two edits as one."""
