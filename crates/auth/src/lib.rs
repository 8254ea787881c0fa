//! Guards, tokens, one-time codes, employees and permissions.
