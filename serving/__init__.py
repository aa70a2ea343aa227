"""What runs in production: releases, the harness runtime, the vLLM engine, the gateway, promotion."""
