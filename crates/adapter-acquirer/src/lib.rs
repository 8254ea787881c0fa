//! Payment gateway over the acquirer's HTTP interface.
