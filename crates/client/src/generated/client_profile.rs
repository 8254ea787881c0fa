// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, ClientSurface, Method};

impl ClientSurface {
    /// Delete the customer's account.
    ///
    /// Clears personal data and revokes all tokens. Orders are kept. A later login with the same contact creates a new
    /// customer.
    ///
    /// `DELETE /api/counterparty`
    pub fn delete_account(&self) -> Call<Message> {
        self.call(Method::DELETE, "/api/counterparty")
    }

    /// Get the customer's profile.
    ///
    /// The header `Token` is optional. If sent, it must be the token of the application that the customer logged in
    /// to.
    ///
    /// `GET /api/counterparty`
    pub fn show_profile(&self) -> Call<CustomerResponse> {
        self.call(Method::GET, "/api/counterparty")
    }

    /// Update the customer's profile.
    ///
    /// Absent fields keep their values; `null` clears a field.
    ///
    /// `PUT /api/counterparty`
    pub fn update_profile(&self, body: &ProfilePatch) -> Call<CustomerResponse> {
        self.call(Method::PUT, "/api/counterparty").json(body)
    }

    /// Request a phone change.
    ///
    /// Calls the new phone with a one-time code. The code can only be used for the phone change, not for login.
    ///
    /// `POST /api/counterparty/phone/request_change`
    pub fn request_phone_change(&self, body: &PhoneChangeRequest) -> Call<Message> {
        self.call(Method::POST, "/api/counterparty/phone/request_change").json(body)
    }

    /// Confirm a phone change.
    ///
    /// Sets the new phone with the one-time code that was sent to it. From then on the customer logs in with the new
    /// phone, and no longer with the old one.
    ///
    /// `POST /api/counterparty/phone/verify_change`
    pub fn confirm_phone_change(&self, body: &PhoneChangeProof) -> Call<CustomerResponse> {
        self.call(Method::POST, "/api/counterparty/phone/verify_change").json(body)
    }

    /// Verify the customer by a small payment.
    ///
    /// Requests a payment through the fast payment system; it is refunded afterwards. While a verification is open,
    /// and for a day after it succeeds, the same verification is returned.
    ///
    /// `POST /api/counterparty/verifications/sbp-payment`
    pub fn verify_by_payment(&self) -> Call<VerificationResponse> {
        self.call(Method::POST, "/api/counterparty/verifications/sbp-payment")
    }
}
