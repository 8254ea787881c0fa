// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Money, Page};

/// New terms of a subscription. Send at most one of `nomenclature_id` and `plan_slug`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ChangedSubscription {
    /// Must be `true` if plan, price, period or payment method change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autopay_consent: Option<bool>,
    /// Id of the new plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nomenclature_id: Option<i64>,
    /// Slug of the new plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_slug: Option<String>,
    /// Saved payment method for the next charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_payment_method_id: Option<i64>,
}

/// First payment of subscriptions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckoutRecord {
    /// Total amount of all plans.
    pub amount: Money,
    /// Length of a period, in months.
    pub billing_period_months: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Id of the first plan.
    pub nomenclature_id: i64,
    /// Ids of all plans.
    pub nomenclature_ids: Vec<i64>,
    /// Id of the order that the payment belongs to.
    pub order_id: i64,
    /// Payment page while the payment is open. `null` also while the payment outcome is unknown.
    pub payment_link: Option<String>,
    pub payment_method_type: String,
}

/// Terms that a customer consented to, and the circumstances of the consent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConsentRecord {
    /// Price of one period.
    pub amount: Money,
    pub billing_period_months: i64,
    pub currency: String,
    pub nomenclature_id: i64,
    pub plan_slug: String,
    /// Network address of the customer; `null` if it is unknown or the customer was deleted.
    pub address: Option<String>,
    pub application_id: Option<i64>,
    pub created_at: DateTime<Utc>,
    pub saved_payment_method_id: Option<i64>,
    /// Version of the text shown to the customer.
    pub text_version: String,
}

/// Change of the payment method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MethodChangeRecord {
    /// Page where the customer enters the method while the change is `pending`. `null` also while the outcome is
    /// unknown.
    pub confirmation_url: Option<String>,
    /// End of the time to enter the method.
    pub expires_at: DateTime<Utc>,
    pub id: i64,
    /// Id of the new method, once `completed`.
    pub saved_payment_method_id: Option<i64>,
    /// `pending`, `completed`, `failed` or `expired`.
    pub status: MethodChangeStatus,
    pub subscription_id: i64,
}

words! {
    /// Method change status.
    pub enum MethodChangeStatus {
        Pending = "pending",
        Completed = "completed",
        Failed = "failed",
        Expired = "expired",
    }
}

/// Purchase that the customer pays on the acquirer's page. Send exactly one of `nomenclature_id` and
/// `nomenclature_ids`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewCheckout {
    pub autopay_consent: bool,
    /// Id of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nomenclature_id: Option<i64>,
    /// Plans with the same currency and billing period. Each becomes a separate subscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nomenclature_ids: Option<Vec<i64>>,
    /// `bank_card` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_method_type: Option<PaymentMethodType>,
}

/// Request for another payment method. `card`, `card_number`, `cvc`, `payment_method_data` and `return_url` are
/// rejected.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewMethodChange {
    pub autopay_consent: bool,
}

/// Purchase that is charged to a saved payment method at once. Send exactly one of `nomenclature_id` and `plan_slug`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewSubscription {
    pub autopay_consent: bool,
    /// Id of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nomenclature_id: Option<i64>,
    /// Slug of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_slug: Option<String>,
    /// Saved payment method to charge.
    pub saved_payment_method_id: i64,
}

/// Payment method list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentMethodList {
    pub data: Vec<PaymentMethodRecord>,
}

/// Payment method record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentMethodRecord {
    /// Last four digits of the card.
    pub card_last_4: Option<String>,
    /// Payment system of the card.
    pub card_type: Option<String>,
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub is_active: bool,
    pub payment_method_type: String,
    /// Display name from the acquirer.
    pub title: Option<String>,
}

/// Resumed subscription.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ResumedSubscription {
    pub autopay_consent: bool,
}

/// One page of consents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionConsentPage {
    pub current_page: i64,
    pub data: Vec<ConsentRecord>,
    pub last_page: i64,
    pub per_page: i64,
    pub total: i64,
}

impl Page for SubscriptionConsentPage {
    type Item = ConsentRecord;

    fn total(&self) -> i64 {
        self.total
    }

    fn into_items(self) -> Vec<ConsentRecord> {
        self.data
    }
}

/// Subscription list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionList {
    pub data: Vec<SubscriptionRecord>,
}

/// One page of payments of a subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionPaymentPage {
    pub current_page: i64,
    pub data: Vec<SubscriptionPaymentRecord>,
    pub last_page: i64,
    pub per_page: i64,
    pub total: i64,
}

impl Page for SubscriptionPaymentPage {
    type Item = SubscriptionPaymentRecord;

    fn total(&self) -> i64 {
        self.total
    }

    fn into_items(self) -> Vec<SubscriptionPaymentRecord> {
        self.data
    }
}

/// Attempt to charge a period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionPaymentRecord {
    pub amount: Money,
    /// Number of the attempt within the period, from 1.
    pub attempt: i64,
    pub created_at: DateTime<Utc>,
    pub currency: String,
    pub id: i64,
    /// Order that the attempt pays for.
    pub order_id: i64,
    /// Number of the period, from 1.
    pub period: i64,
    /// Acquirer's reason of a failed attempt.
    pub reason: Option<String>,
    /// `processing`, `needs_reconciliation` (unknown outcome, being resolved), `succeeded` or `failed`.
    pub status: String,
}

/// Subscription as shown to its customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionRecord {
    /// Price of one period.
    pub amount: Money,
    pub billing_period_months: i64,
    pub currency: String,
    pub nomenclature_id: i64,
    pub plan_slug: String,
    /// `null` if the subscription belongs to the whole project.
    pub application_id: Option<i64>,
    /// `true` if the latest payment may be retried.
    pub can_retry_payment: bool,
    pub canceled_at: Option<DateTime<Utc>>,
    pub current_period_end: Option<DateTime<Utc>>,
    /// `null` until the first payment.
    pub current_period_start: Option<DateTime<Utc>>,
    pub id: i64,
    pub latest_payment: Option<SubscriptionPaymentRecord>,
    /// Earliest time of the next charge; `null` if none is planned.
    pub next_charge_at: Option<DateTime<Utc>>,
    /// Terms from the next period on, if they differ.
    pub next_terms: Option<TermsRecord>,
    /// `available`, or the reason why not: `canceled`, `processing`, `needs_reconciliation`, `already_paid`,
    /// `charge_planned`, `daily_limit`, `no_payment`, `not_last`, `not_failed`, `terms_changed`, `plan_unavailable`,
    /// `method_inactive`, `parked` or `too_many_tries`.
    pub retry_payment_reason: String,
    /// `active`, `charging`, `past_due` or `canceled`. The subscription gives access only while it is `active` and
    /// `current_period_end` is in the future.
    pub status: SubscriptionStatus,
}

/// Subscription response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionResponse {
    pub data: SubscriptionRecord,
}

words! {
    /// Subscription status.
    pub enum SubscriptionStatus {
        Active = "active",
        Charging = "charging",
        PastDue = "past_due",
        Canceled = "canceled",
    }
}

/// Plan of a subscription as the customer agreed to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TermsRecord {
    /// Price of one period.
    pub amount: Money,
    pub billing_period_months: i64,
    pub currency: String,
    pub nomenclature_id: i64,
    pub plan_slug: String,
}
