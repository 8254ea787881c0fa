//! Running service: gathers the surfaces, wires their services and runs them.

pub mod background_writes;
pub mod counters;
pub mod health;
pub mod instance;
pub mod landing;
pub mod messaging;
pub mod observe;
pub mod openapi;
pub mod openapi_examples;
mod openapi_tags;
mod openapi_webhooks;
pub mod policies;
pub mod routes;
pub mod server;
pub mod supervision;
pub mod wiring;
pub mod worker;
