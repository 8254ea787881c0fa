//! Customer records and their contacts.
