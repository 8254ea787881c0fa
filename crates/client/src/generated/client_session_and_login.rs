// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, ClientSurface, Method, segment};

impl ClientSurface {
    /// Introspect a customer token.
    ///
    /// For backends: returns the state of a customer token of the client's application. The client authenticates with
    /// its own credentials. The response is `{"active": false}` if the token is invalid for any reason.
    ///
    /// `POST /api/counterparty/auth/introspect`
    pub fn introspect(&self, body: &IntrospectionRequest) -> Call<TokenIntrospection> {
        self.call(Method::POST, "/api/counterparty/auth/introspect").form(body).reads().by_backend()
    }

    /// Exchange a verified callback attempt for an access token.
    ///
    /// The customer is found by their phone, or created. A verified attempt can be exchanged once, for at least two
    /// minutes.
    ///
    /// `POST /api/counterparty/callback_auth/exchange`
    pub fn exchange_callback_attempt(&self, body: &CallbackExchange) -> Call<CallbackExchanged> {
        self.call(Method::POST, "/api/counterparty/callback_auth/exchange").json(body)
    }

    /// Start a login by callback.
    ///
    /// Returns the number that the customer must call from their phone. Then poll `status` and finish with `exchange`.
    ///
    /// While an attempt for the phone waits for its call, another one is accepted after 60 seconds. That rejection
    /// does not use the nonce; an attempt that fails at the provider does.
    ///
    /// Rate limits: 10 an hour per phone, 60 a minute per IP address.
    ///
    /// `POST /api/counterparty/callback_auth/init`
    pub fn start_callback_login(&self, body: &CallbackStart) -> Call<CallbackStarted> {
        self.call(Method::POST, "/api/counterparty/callback_auth/init").json(body)
    }

    /// Check a login by callback.
    ///
    /// Returns `verified` once the call has arrived, and `expired` after the exchange.
    ///
    /// `POST /api/counterparty/callback_auth/status`
    pub fn check_callback_login(&self, body: &CallbackStatusRequest) -> Call<CallbackStatusRecord> {
        self.call(Method::POST, "/api/counterparty/callback_auth/status").json(body).reads()
    }

    /// Log in with a one-time code.
    ///
    /// After five wrong attempts the code is invalid. If several customers have the contact, the oldest logs in.
    ///
    /// `POST /api/counterparty/login`
    pub fn log_in(&self, body: &CodeLogin) -> Call<SignedInCounterparty> {
        self.call(Method::POST, "/api/counterparty/login").json(body)
    }

    /// Log out the customer.
    ///
    /// Ends the login on this device, or on all devices with `from_all_devices`.
    ///
    /// `POST /api/counterparty/logout`
    pub fn log_out(&self, body: &Logout) -> Call<Message> {
        self.call(Method::POST, "/api/counterparty/logout").json(body)
    }

    /// Log in with a contact shared in a mini-app.
    ///
    /// Both signatures of the messenger must be recent, by default at most one hour old. The customer is found by the
    /// phone, or created.
    ///
    /// `POST /api/counterparty/miniapps/{provider}/contact_auth`
    pub fn log_in_with_contact(&self, provider: &str, body: &ContactLogin) -> Call<SignedInCounterparty> {
        self.call(Method::POST, &format!("/api/counterparty/miniapps/{}/contact_auth", segment(provider))).json(body)
    }

    /// Send a login code.
    ///
    /// Sends a one-time code by call or e-mail. The customer is created if they do not exist.
    ///
    /// `POST /api/counterparty/send_password`
    pub fn send_password(&self, body: &CodeRequest) -> Call<Message> {
        self.call(Method::POST, "/api/counterparty/send_password").json(body)
    }

    /// Send a session heartbeat.
    ///
    /// Call it while the customer uses the application. After 300 seconds without a heartbeat, the next one starts a
    /// new session.
    ///
    /// `POST /api/counterparty/session/heartbeat`
    pub fn send_heartbeat(&self) -> Call<HeartbeatRecord> {
        self.call(Method::POST, "/api/counterparty/session/heartbeat")
    }
}
