//! Two small backends that serve a lesson to subscribers, as a starting point for your own.
//!
//! - [`direct`]: the app logs its customer in to Kontor and sends the customer's token with each request.
//! - [`bff`]: a backend for a frontend logs the customer in itself and keeps the token; the browser has a cookie.
//!
//! Both query Kontor for each request and apply [`access::opens`]. When Kontor cannot be reached, they answer `503`
//! and grant no access.
//!
//! ```sh
//! kontor demo                                        # in one terminal; it writes kontor-demo/demo.json
//! cargo run -p kontor-examples --bin direct          # in another; or --bin bff
//! ```

pub mod access;
pub mod answers;
pub mod bff;
pub mod direct;
pub mod kontor;
pub mod settings;
