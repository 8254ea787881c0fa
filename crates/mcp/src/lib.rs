//! MCP server: agents work through tools, resources and prompts instead of endpoints.
//!
//! **Owns** the protocol over one `POST`, the [tools], [resources] and [prompts], and the documents for agents. A tool
//! makes one request to the API through the port [`Api`], with the token of the agent. So permissions, limits,
//! approvals and idempotency are those of the API.
//!
//! The protocol ([server]) knows no tool: it asks a [`Content`]. [trade] has that of Kontor; the example `conformance`
//! has the one of the official conformance suite.
//!
//! **Versions.** `2026-07-28` (each request names its version and the capabilities of its client) and `2025-11-25`
//! (`initialize`, without sessions). Nothing is kept between requests, so any process answers any request.
//!
//! **Invariants**
//! - Schemas and permissions of a tool are read from the description and the policy of its operation at the start. A
//!   tool that does not fit prevents the start.
//! - The list of tools has exactly those that the token may use.
//! - Records are data: they follow a fixed line that says so.

pub mod api;
pub mod arguments;
pub mod http;
pub mod offer;
pub mod previews;
pub mod prompts;
pub mod protocol;
pub mod resources;
pub mod results;
pub mod schema;
pub mod server;
pub mod tools;
pub mod trade;

pub use api::{Api, ApiAnswer, ApiBody, ApiRequest, Headers};
pub use http::routes;
pub use offer::{Offer, ToolMismatch};
pub use server::{Challenge, Content, Reply, Stop};
pub use trade::{Caller, Mcp};
