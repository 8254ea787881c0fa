//! Running service: gathers the surfaces, wires their services and runs them.

pub mod background_writes;
pub mod health;
pub mod instance;
pub mod landing;
pub mod observe;
pub mod openapi;
pub mod openapi_examples;
mod openapi_webhooks;
pub mod policies;
pub mod server;
pub mod supervision;
pub mod wiring;
pub mod worker;
