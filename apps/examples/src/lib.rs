//! Two small backends that serve a lesson to subscribers, to be read and changed.
//!
//! - [`direct`]: the app signs its customer in to Kontor and sends the customer's token with each request.
//! - [`bff`]: a backend for a frontend signs the customer in itself and keeps the token; the browser has a cookie.
//!
//! Both ask Kontor anew for each request and apply [`access::opens`]. When Kontor cannot be asked nobody gets in: that is `503`, not
//! access.
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
