//! Kontor service: HTTP surfaces, wiring, configuration, worker and command line.
//!
//! **Owns** everything HTTP (statuses, wire types, guards as extractors), the configuration and the process.
//!
//! **Invariants**
//! - A handler extracts its input, calls a service and returns a response. Business rules are in the domain crates.
//! - Routes, their OpenAPI description and the endpoint list come from the same declarations.
//! - No code depends on the sandbox: only addresses and credentials differ.

pub mod adapters;
mod callbacks;
pub mod cli;
pub mod config;
mod service;

pub use service::{instance, openapi, openapi_examples, policies, wiring};
