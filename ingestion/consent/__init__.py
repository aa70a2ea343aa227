"""Consent from elsewhere: what a consent platform or an app says of people, by file or by ``POST /v1/consent``."""
