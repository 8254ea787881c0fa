// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, ClientSurface, Method, Pages};

impl ClientSurface {
    /// List saved payment methods.
    ///
    /// Returns methods that the customer saved in this application and that can be charged, newest first.
    ///
    /// `GET /api/counterparty/payment-methods`
    pub fn list_payment_methods(&self) -> Call<PaymentMethodList> {
        self.call(Method::GET, "/api/counterparty/payment-methods")
    }

    /// Delete a saved payment method.
    ///
    /// The method is not charged any more, even if subscriptions use it. Paid subscriptions stay active until the end
    /// of their period. To continue after that, they need another method.
    ///
    /// `DELETE /api/counterparty/payment-methods/{id}`
    pub fn delete_payment_method(&self, id: i64) -> Call<Message> {
        self.call(Method::DELETE, &format!("/api/counterparty/payment-methods/{id}"))
    }

    /// List the customer's subscriptions.
    ///
    /// Returns subscriptions of this application and those that belong to the whole project, newest first.
    ///
    /// `GET /api/counterparty/subscriptions`
    pub fn list_subscriptions(&self) -> Call<SubscriptionList> {
        self.call(Method::GET, "/api/counterparty/subscriptions")
    }

    /// Create a subscription with a saved payment method.
    ///
    /// The first period is charged at once. Never send card data to this endpoint.
    ///
    /// `POST /api/counterparty/subscriptions`
    pub fn create_subscription(&self, body: &NewSubscription) -> Call<SubscriptionResponse> {
        self.call(Method::POST, "/api/counterparty/subscriptions").json(body)
    }

    /// Check out subscriptions.
    ///
    /// Creates a payment on the acquirer's page for one or several plans. The payment method is saved for later
    /// charges. The subscriptions become active when the payment succeeds. While the payment is open, the same request
    /// returns the same payment.
    ///
    /// `POST /api/counterparty/subscriptions/checkout`
    pub fn check_out_subscriptions(&self, body: &NewCheckout) -> Call<CheckoutRecord> {
        self.call(Method::POST, "/api/counterparty/subscriptions/checkout").json(body)
    }

    /// Get a subscription of the customer.
    ///
    /// `GET /api/counterparty/subscriptions/{id}`
    pub fn show_subscription(&self, id: i64) -> Call<SubscriptionResponse> {
        self.call(Method::GET, &format!("/api/counterparty/subscriptions/{id}"))
    }

    /// Update the plan or payment method of a subscription.
    ///
    /// A new plan applies from the next period, a new saved method from the next charge. Never send card data to this
    /// endpoint.
    ///
    /// `PATCH /api/counterparty/subscriptions/{id}`
    pub fn update_subscription(&self, id: i64, body: &ChangedSubscription) -> Call<SubscriptionResponse> {
        self.call(Method::PATCH, &format!("/api/counterparty/subscriptions/{id}")).json(body)
    }

    /// Cancel a subscription.
    ///
    /// Nothing is charged any more.
    ///
    /// `POST /api/counterparty/subscriptions/{id}/cancel`
    pub fn cancel_subscription(&self, id: i64) -> Call<SubscriptionResponse> {
        self.call(Method::POST, &format!("/api/counterparty/subscriptions/{id}/cancel"))
    }

    /// List the consents of a subscription.
    ///
    /// Newest first.
    ///
    /// `GET /api/counterparty/subscriptions/{id}/consents`
    pub fn list_subscription_consents(&self, id: i64, query: &PageQuery) -> Call<SubscriptionConsentPage> {
        self.call(Method::GET, &format!("/api/counterparty/subscriptions/{id}/consents")).query(query)
    }

    /// Reads [`list_subscription_consents`](Self::list_subscription_consents) page by page, from the first page.
    pub fn list_subscription_consents_pages(
        &self,
        id: i64,
        query: PageQuery,
    ) -> Pages<PageQuery, SubscriptionConsentPage> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_subscription_consents(id, query))
    }

    /// Change the payment method of a subscription.
    ///
    /// The customer enters the new method at `confirmation_url`. The small amount paid there is refunded at once.
    /// Never send card data to this endpoint.
    ///
    /// `POST /api/counterparty/subscriptions/{id}/payment-method-change`
    pub fn change_payment_method(&self, id: i64, body: &NewMethodChange) -> Call<MethodChangeRecord> {
        self.call(Method::POST, &format!("/api/counterparty/subscriptions/{id}/payment-method-change")).json(body)
    }

    /// Check a payment method change.
    ///
    /// Returns the state of the change. While it is unknown, the acquirer is queried.
    ///
    /// `POST /api/counterparty/subscriptions/{id}/payment-method-changes/{change_id}/sync`
    pub fn sync_payment_method_change(&self, id: i64, change_id: i64) -> Call<MethodChangeRecord> {
        self.call(
            Method::POST,
            &format!("/api/counterparty/subscriptions/{id}/payment-method-changes/{change_id}/sync"),
        )
    }

    /// List the payments of a subscription.
    ///
    /// Newest first.
    ///
    /// `GET /api/counterparty/subscriptions/{id}/payments`
    pub fn list_subscription_payments(&self, id: i64, query: &PageQuery) -> Call<SubscriptionPaymentPage> {
        self.call(Method::GET, &format!("/api/counterparty/subscriptions/{id}/payments")).query(query)
    }

    /// Reads [`list_subscription_payments`](Self::list_subscription_payments) page by page, from the first page.
    pub fn list_subscription_payments_pages(
        &self,
        id: i64,
        query: PageQuery,
    ) -> Pages<PageQuery, SubscriptionPaymentPage> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_subscription_payments(id, query))
    }

    /// Retry the last payment of a subscription.
    ///
    /// The payment must have failed, and the terms must be unchanged. `can_retry_payment` and `retry_payment_reason`
    /// of the subscription show if it is possible.
    ///
    /// `POST /api/counterparty/subscriptions/{id}/payments/{payment_id}/retry`
    pub fn retry_subscription_payment(&self, id: i64, payment_id: i64) -> Call<SubscriptionResponse> {
        self.call(Method::POST, &format!("/api/counterparty/subscriptions/{id}/payments/{payment_id}/retry"))
    }

    /// Resume a canceled subscription.
    ///
    /// The subscription becomes `active` while its paid period lasts; otherwise it is `past_due` until it is paid.
    ///
    /// `POST /api/counterparty/subscriptions/{id}/resume`
    pub fn resume_subscription(&self, id: i64, body: &ResumedSubscription) -> Call<SubscriptionResponse> {
        self.call(Method::POST, &format!("/api/counterparty/subscriptions/{id}/resume")).json(body)
    }
}
