//! Records of subscriptions as shown to staff.

use chrono::{DateTime, Utc};
use kontor_kernel::{Page, SavedMethodId, Word as _};
use kontor_subscriptions::Park;
use kontor_subscriptions::model::{Attempt, SubscriptionEntry, SubscriptionRecord};
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::envelope::{list, one};
use kontor_web::records::HistoryRecord;
use kontor_web::subscription_record::{self as shared, ConsentRecord, SubscriptionPaymentRecord};
use kontor_web::wire::NamedRecord;

/// Customer of a subscription.
#[derive(Serialize, ToSchema)]
struct Subscriber {
    id: i64,
    name: String,
    phone: Option<String>,
}

/// Subscription as shown to staff.
#[derive(Serialize, ToSchema)]
pub(crate) struct StaffSubscription {
    #[serde(flatten)]
    subscription: shared::SubscriptionRecord,
    counterparty: Subscriber,
    /// `null` if the subscription belongs to the whole project.
    application: Option<NamedRecord>,
    /// `false` if the application is deactivated. Nothing is charged until it is activated again.
    application_is_active: bool,
    nomenclature: NamedRecord,
    /// Id of the saved method for the next charge.
    saved_payment_method_id: Option<i64>,
    /// Number of the last paid period.
    period: Option<u32>,
    /// Reason why nothing is charged until staff release the subscription: `paid_today`, `customer_limit`,
    /// `above_consent`, `contradicting_answers` or `work_failed`. `null` if it is not parked.
    parked: Option<&'static str>,
    /// Time when the subscription was parked. `null` if it is not parked.
    parked_at: Option<DateTime<Utc>>,
    /// Numbers of periods that passed without a charge and will be charged later.
    missed_periods: Vec<u32>,
    version: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<SubscriptionRecord> for StaffSubscription {
    fn from(record: SubscriptionRecord) -> Self {
        let SubscriptionRecord {
            view,
            customer,
            phone,
            application,
            application_active,
            plan,
            parked_at,
            updated_at,
            version,
        } = record;
        let one = view.subscription.clone();
        Self {
            counterparty: Subscriber { id: customer.id.get(), name: customer.name, phone },
            application: application.map(Into::into),
            application_is_active: application_active,
            nomenclature: plan.into(),
            saved_payment_method_id: one.terms.method.map(SavedMethodId::get),
            period: one.period.map(|period| period.number),
            parked: one.parked.map(Park::word),
            parked_at,
            missed_periods: one.missed,
            version,
            created_at: one.created_at,
            updated_at,
            subscription: view.into(),
        }
    }
}

one!(pub(super) StaffSubscriptionResponse { subscription: StaffSubscription });
list!(pub(super) StaffSubscriptionList { subscriptions: [StaffSubscription], subscriptions_count of all, pagination });
list!(pub(super) StaffPaymentList { payments: [StaffPayment], payments_count of all, pagination });
list!(/// One page of the history of a subscription, newest first.
    pub(super) SubscriptionHistoryList { histories: [SubscriptionHistoryRecord], histories_count of all, pagination });
list!(pub(super) ConsentList { consents: [ConsentRecord], consents_count of all, pagination });
list!(pub(super) UpcomingList { charges: [UpcomingCharge], charges_count of all, pagination });

/// Charge of a period, as shown to staff.
#[derive(Serialize, ToSchema)]
pub(super) struct StaffPayment {
    #[serde(flatten)]
    payment: SubscriptionPaymentRecord,
    /// `first`, `renewal`, `recovery` of a past-due period, or `missed` for an earlier missed period.
    origin: &'static str,
    /// `false` if the customer or an employee requested the charge.
    planned: bool,
    /// Id of the saved method that was charged.
    saved_payment_method_id: Option<i64>,
    /// Time of the final result. `null` while the charge is open.
    ended_at: Option<DateTime<Utc>>,
}

impl From<Attempt> for StaffPayment {
    fn from(attempt: Attempt) -> Self {
        Self {
            origin: attempt.origin.word(),
            planned: attempt.planned,
            saved_payment_method_id: attempt.method.map(SavedMethodId::get),
            ended_at: attempt.ended_at,
            payment: attempt.into(),
        }
    }
}

/// History entry of a subscription.
#[derive(Serialize, ToSchema)]
pub(super) struct SubscriptionHistoryRecord {
    #[serde(flatten)]
    line: HistoryRecord,
    /// `charge_started`, `charge_succeeded`, `charge_declined_soft`, `charge_declined_hard`, `charge_unknown`,
    /// `charge_pending`, `charge_contradicted`, `cancel`, `resume`, `retry`, `update_plan_assignment`, `change_method`,
    /// `delete_method`, `refund_period`, `customer_leaves`, `plan_withdrawn`, `charge_announced`, `pause`, `skip`,
    /// `move_day`, `release`, `period_due` or `dunning_exhausted`.
    event: &'static str,
    /// Status after the event: `active`, `charging`, `past_due` or `canceled`.
    status: &'static str,
}

impl From<SubscriptionEntry> for SubscriptionHistoryRecord {
    fn from(entry: SubscriptionEntry) -> Self {
        Self { line: entry.line.into(), event: entry.event.word(), status: entry.status.word() }
    }
}

/// Upcoming charge.
#[derive(Serialize, ToSchema)]
pub(super) struct UpcomingCharge {
    subscription_id: i64,
    /// Earliest time of the charge.
    charge_at: DateTime<Utc>,
    /// Amount of the charge, decimal string.
    #[schema(examples("990.00"))]
    amount: String,
    /// ISO 4217 code.
    #[schema(examples("RUB"))]
    currency: String,
    counterparty: Subscriber,
    nomenclature: NamedRecord,
    /// `true` if the charge is a retry for a past-due period.
    past_due: bool,
}

/// Returns the upcoming charges of subscriptions that have one.
pub(super) fn upcoming(page: Page<SubscriptionRecord>) -> UpcomingList {
    let charges = page.items.iter().filter_map(|record| {
        let one = &record.view.subscription;
        let terms = one.next_terms.as_ref().unwrap_or(&one.terms);
        let customer = record.customer.clone();
        Some(UpcomingCharge {
            subscription_id: one.id.get(),
            charge_at: one.next_charge_at?,
            amount: terms.amount.to_string(),
            currency: terms.currency.clone(),
            counterparty: Subscriber { id: customer.id.get(), name: customer.name, phone: record.phone.clone() },
            nomenclature: record.plan.clone().into(),
            past_due: one.unpaid.is_some(),
        })
    });
    let charges = charges.collect();
    page.with_items::<UpcomingCharge>(charges).into()
}
