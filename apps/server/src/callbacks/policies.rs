use kontor_web::policy::{Access, Policy, post};

/// Policies of the callbacks. Their handlers verify the request by a signature or by a request to the provider.
pub const POLICIES: &[Policy] =
    &[post("/callbacks/acquirer", Access::Public), post("/callbacks/telephony", Access::Public)];
