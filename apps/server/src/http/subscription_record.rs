//! Subscriptions and their payments on the wire.

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, SavedMethodId, Word as _};
use kontor_subscriptions::model::{Attempt, SubscriptionView};
use kontor_subscriptions::{ConsentedTerms, Terms};
use serde::Serialize;
use utoipa::ToSchema;

/// An attempt to charge a period.
#[derive(Serialize, ToSchema)]
pub struct SubscriptionPaymentRecord {
    id: i64,
    /// `processing`, `needs_reconciliation` (whether it was made is being found out), `succeeded` or `failed`.
    status: &'static str,
    #[schema(examples("990.00"))]
    amount: String,
    #[schema(examples("RUB"))]
    currency: String,
    /// The number of the period, from 1.
    period: u32,
    /// Its place among the attempts of the period, from 1.
    attempt: u32,
    /// The acquirer's reason, of one that failed.
    reason: Option<String>,
    created_at: DateTime<Utc>,
    /// The order that it pays.
    order_id: i64,
}

impl From<Attempt> for SubscriptionPaymentRecord {
    fn from(attempt: Attempt) -> Self {
        Self {
            id: attempt.id.get(),
            status: attempt.state.word(),
            amount: attempt.amount.to_string(),
            currency: attempt.currency,
            period: attempt.period,
            attempt: attempt.number,
            reason: attempt.reason,
            created_at: attempt.started_at,
            order_id: attempt.order.get(),
        }
    }
}

/// The plan of a subscription as the customer agreed on it.
#[derive(Serialize, ToSchema)]
pub struct TermsRecord {
    plan_slug: String,
    nomenclature_id: i64,
    billing_period_months: u8,
    /// What one period costs.
    #[schema(examples("990.00"))]
    amount: String,
    #[schema(examples("RUB"))]
    currency: String,
}

impl From<Terms> for TermsRecord {
    fn from(terms: Terms) -> Self {
        Self {
            plan_slug: terms.plan_slug,
            nomenclature_id: terms.plan.get(),
            billing_period_months: terms.billing_months,
            amount: terms.amount.to_string(),
            currency: terms.currency,
        }
    }
}

/// What a customer consented to, and how.
#[derive(Serialize, ToSchema)]
pub struct ConsentRecord {
    #[serde(flatten)]
    terms: TermsRecord,
    saved_payment_method_id: Option<i64>,
    /// Which text they were shown.
    text_version: String,
    /// The network address it came from; `null` where it is not known, or the customer has left.
    address: Option<String>,
    application_id: Option<i64>,
    created_at: DateTime<Utc>,
}

impl From<ConsentedTerms> for ConsentRecord {
    fn from(consent: ConsentedTerms) -> Self {
        Self {
            saved_payment_method_id: consent.terms.method.map(SavedMethodId::get),
            terms: consent.terms.into(),
            text_version: consent.text_version,
            address: consent.address,
            application_id: consent.application.map(i64::from),
            created_at: consent.at,
        }
    }
}

/// A subscription as its customer sees it.
#[derive(Serialize, ToSchema)]
pub struct SubscriptionRecord {
    id: i64,
    /// `null` of one that the project has as a whole.
    application_id: Option<i64>,
    #[serde(flatten)]
    terms: TermsRecord,
    /// What was agreed on from the next period on, where that differs.
    next_terms: Option<TermsRecord>,
    /// `active`, `charging`, `past_due` or `canceled`. It opens something only while it is `active` and
    /// `current_period_end` lies ahead.
    status: &'static str,
    /// `null` until the first payment.
    current_period_start: Option<DateTime<Utc>>,
    current_period_end: Option<DateTime<Utc>>,
    /// Not before then; `null` when nothing will be charged.
    next_charge_at: Option<DateTime<Utc>>,
    canceled_at: Option<DateTime<Utc>>,
    latest_payment: Option<SubscriptionPaymentRecord>,
    /// Whether the latest payment may be retried.
    can_retry_payment: bool,
    /// `available`, or why not: `canceled`, `processing`, `needs_reconciliation`, `already_paid`, `charge_planned`,
    /// `daily_limit`, `no_payment`, `not_last`, `not_failed`, `terms_changed`, `plan_unavailable`, `method_inactive`, `parked` or
    /// `too_many_tries`.
    retry_payment_reason: &'static str,
}

impl From<SubscriptionView> for SubscriptionRecord {
    fn from(view: SubscriptionView) -> Self {
        let SubscriptionView { subscription, latest, retry: (can_retry, reason) } = view;
        Self {
            id: subscription.id.get(),
            application_id: subscription.application_id.map(ApplicationId::get),
            terms: subscription.terms.into(),
            next_terms: subscription.next_terms.map(Into::into),
            status: subscription.status.word(),
            current_period_start: subscription.period.map(|period| period.start),
            current_period_end: subscription.period.map(|period| period.end),
            next_charge_at: subscription.next_charge_at,
            canceled_at: subscription.canceled_at,
            latest_payment: latest.map(Into::into),
            can_retry_payment: can_retry,
            retry_payment_reason: reason.word(),
        }
    }
}
