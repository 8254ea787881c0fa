//! Kontor, as the examples use it.

use std::time::Duration;

use kontor_client::types::{CodeLogin, CodeRequest, Logout, NewCheckout, PageQuery, SubscriptionRecord};
use kontor_client::{Client, ClientSurface, Error, Retries};

use crate::settings::Settings;

/// Timeout of requests to Kontor, and longest pause between them: a browser waits.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Kontor for one application.
#[derive(Clone)]
pub struct Kontor {
    shop: ClientSurface,
    settings: Settings,
}

impl Kontor {
    /// Creates a client with these settings.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let retries = Retries { longest_pause: LONGEST_PAUSE, ..Retries::default() };
        let client = Client::new(&settings.kontor)?.with_timeout(REQUEST_TIMEOUT).with_retries(retries);
        Ok(Self { shop: client.application(settings.app_token.as_str()), settings })
    }

    /// Returns the plan that grants the lesson.
    pub fn plan(&self) -> &str {
        &self.settings.plan
    }

    /// Returns the URL where a customer subscribes, for callers that hold the token themselves.
    pub fn checkout_url(&self) -> String {
        format!("{}/api/counterparty/subscriptions/checkout", self.settings.kontor)
    }

    /// Returns the customer's subscriptions.
    pub async fn subscriptions(&self, token: &str) -> Result<Vec<SubscriptionRecord>, Error> {
        Ok(self.shop.with_customer(token).list_subscriptions(&PageQuery::default()).await?.data)
    }

    /// Starts a first payment and returns the link to pay. Only the customer can consent to recurring charges.
    pub async fn check_out(&self, token: &str, consents: bool) -> Result<Option<String>, Error> {
        let plans = self.shop.list_plans().await?.data;
        let plan = plans.iter().find(|plan| plan.plan_slug == self.plan());
        let plan = plan.ok_or_else(|| Error::Invalid(format!("there is no plan {}", self.plan())))?;
        let nomenclature_id = Some(plan.nomenclature_id);
        let body = NewCheckout { nomenclature_id, autopay_consent: consents, ..NewCheckout::default() };
        Ok(self.shop.with_customer(token).check_out_subscriptions(&body).await?.payment_link)
    }

    /// Sends a code to a phone.
    pub async fn send_code(&self, phone: &str) -> Result<(), Error> {
        self.shop.send_password(&CodeRequest { phone: phone.to_owned() }).await.map(|_| ())
    }

    /// Logs a customer in with that code and returns their token.
    pub async fn log_in(&self, phone: &str, code: &str) -> Result<String, Error> {
        let body = CodeLogin { phone: phone.to_owned(), password: code.into(), device: None };
        let customer = self.shop.log_in(&body).await?.counterparty;
        Ok(customer.access_token.value.expose().to_owned())
    }

    /// Revokes a token.
    pub async fn log_out(&self, token: &str) -> Result<(), Error> {
        self.shop.with_customer(token).log_out(&Logout::default()).await.map(|_| ())
    }
}
