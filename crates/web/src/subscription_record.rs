//! Wire form of subscriptions and their payments.

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, SavedMethodId, Word as _};
use kontor_subscriptions::model::{Attempt, SubscriptionView};
use kontor_subscriptions::{ConsentedTerms, Terms};
use serde::Serialize;
use utoipa::ToSchema;

/// Attempt to charge a period.
#[derive(Serialize, ToSchema)]
pub struct SubscriptionPaymentRecord {
    id: i64,
    /// `processing`, `needs_reconciliation` (unknown outcome, being resolved), `succeeded` or `failed`.
    status: &'static str,
    #[schema(examples("990.00"))]
    amount: String,
    #[schema(examples("RUB"))]
    currency: String,
    /// Number of the period, from 1.
    period: u32,
    /// Number of the attempt within the period, from 1.
    attempt: u32,
    /// Acquirer's reason of a failed attempt.
    reason: Option<String>,
    created_at: DateTime<Utc>,
    /// Order that the attempt pays for.
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

/// Plan of a subscription as the customer agreed to it.
#[derive(Serialize, ToSchema)]
pub struct TermsRecord {
    plan_slug: String,
    nomenclature_id: i64,
    billing_period_months: u8,
    /// Price of one period.
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

/// Terms that a customer consented to, and the circumstances of the consent.
#[derive(Serialize, ToSchema)]
pub struct ConsentRecord {
    #[serde(flatten)]
    terms: TermsRecord,
    saved_payment_method_id: Option<i64>,
    /// Version of the text shown to the customer.
    text_version: String,
    /// Network address of the customer; `null` if it is unknown or the customer was deleted.
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

/// Subscription as shown to its customer.
#[derive(Serialize, ToSchema)]
pub struct SubscriptionRecord {
    id: i64,
    /// `null` if the subscription belongs to the whole project.
    application_id: Option<i64>,
    #[serde(flatten)]
    terms: TermsRecord,
    /// Terms from the next period on, if they differ.
    next_terms: Option<TermsRecord>,
    /// `active`, `charging`, `past_due` or `canceled`. The subscription gives access only while it is `active` and
    /// `current_period_end` is in the future.
    status: &'static str,
    /// `null` until the first payment.
    current_period_start: Option<DateTime<Utc>>,
    current_period_end: Option<DateTime<Utc>>,
    /// Earliest time of the next charge; `null` if none is planned.
    next_charge_at: Option<DateTime<Utc>>,
    canceled_at: Option<DateTime<Utc>>,
    latest_payment: Option<SubscriptionPaymentRecord>,
    /// `true` if the latest payment may be retried.
    can_retry_payment: bool,
    /// `available`, or the reason why not: `canceled`, `processing`, `needs_reconciliation`, `already_paid`,
    /// `charge_planned`, `daily_limit`, `no_payment`, `not_last`, `not_failed`, `terms_changed`, `plan_unavailable`,
    /// `method_inactive`, `parked` or `too_many_tries`.
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
