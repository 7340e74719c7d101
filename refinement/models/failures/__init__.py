"""Categories of what judges criticise, and the issues in them."""
