//! Every persistence port on SQLite and PostgreSQL.
