// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, ClientSurface, Method};

impl ClientSurface {
    /// Place an order without login.
    ///
    /// The order is delivered by courier. The customer is found by the phone, or created with the order; the response
    /// does not reveal which. The data of an existing customer is not changed.
    ///
    /// The unconfirmed orders of one phone are limited in units and in total price. Above a limit the response is 422
    /// on `products`. An order that no employee confirms is canceled after a limited time.
    ///
    /// `POST /api/counterparty/contact_form`
    pub fn place_order_by_contact_form(&self, body: &ContactForm) -> Call<OwnOrderResponse> {
        self.call(Method::POST, "/api/counterparty/contact_form").json(body)
    }

    /// List the customer's orders.
    ///
    /// Returns orders of the calling application, newest first.
    ///
    /// `GET /api/counterparty/orders`
    pub fn list_own_orders(&self) -> Call<OwnOrderList> {
        self.call(Method::GET, "/api/counterparty/orders")
    }

    /// Place an order.
    ///
    /// With `payment_method_type`, an online payment is requested after the order is stored:
    ///
    /// - If the acquirer rejects the payment, the order is canceled and the response is 502.
    /// - If the outcome is unknown, the response is 202 and `payment_link` appears in the order later.
    ///
    /// Orders with a promo code count toward the rate limit of cart calculations.
    ///
    /// `POST /api/counterparty/orders`
    pub fn place_order(&self, body: &NewOrder) -> Call<OwnOrderResponse> {
        self.call(Method::POST, "/api/counterparty/orders").json(body)
    }

    /// Calculate a cart.
    ///
    /// Nothing is stored. With a customer token, the per-customer limit of the promo code is checked. A promo code
    /// that cannot be used is not an error: `discount_error` contains the reason.
    ///
    /// `POST /api/counterparty/orders/precalculate`
    pub fn calculate_cart(&self, body: &CartInput) -> Call<CartRecord> {
        self.call(Method::POST, "/api/counterparty/orders/precalculate").json(body).reads()
    }

    /// Get an order of the customer.
    ///
    /// `GET /api/counterparty/orders/{id}`
    pub fn show_own_order(&self, id: i64) -> Call<OwnOrderResponse> {
        self.call(Method::GET, &format!("/api/counterparty/orders/{id}"))
    }
}
