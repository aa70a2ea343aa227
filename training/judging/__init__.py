"""Model judges: asked in a fenced prompt, read strictly, believed only as far as people agreed with them."""
