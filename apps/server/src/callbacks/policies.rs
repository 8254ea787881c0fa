use crate::http::policy::{Access, Policy, post};

/// What outside services call proves itself inside the handler, by a signature or by asking back.
pub const POLICIES: &[Policy] = &[post("/callbacks/acquirer", Access::Public)];
