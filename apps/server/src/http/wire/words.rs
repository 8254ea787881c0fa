//! The wire form of types whose values are a few words.

use std::borrow::Cow;

use kontor_catalog::{bulk, model as catalog, storefront};
use kontor_content::model as content;
use kontor_customers::model as customers;
use kontor_kernel::{DiscountStatus, Word};
use kontor_orders::model as orders;
use kontor_organization::model as organization;
use kontor_subscriptions as subscriptions;
use utoipa::openapi::ObjectBuilder;

use super::types::{string_schema, text};
use super::{In, Scalar, WireValue};

/// As a text; what is none, such as a number, is none of the words either.
fn word(scalar: Scalar) -> Result<String, String> {
    text(scalar).or(Ok(String::new()))
}

/// Every word of a type with its value.
fn all<T: Word>() -> impl Iterator<Item = (&'static str, T)> {
    T::all().iter().map(|value| (value.word(), *value))
}

macro_rules! wire_words {
    ($($(#[$doc:meta])+ $name:ident = $type:ty, $read:ident, $words:expr;)+) => {$(
        impl WireValue for $type {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                let sent = $read(scalar)?;
                let found = $words.into_iter().find(|(name, _): &(_, $type)| *name == sent);
                found.map(|(_, value)| value).ok_or_else(|| Self::expected().into_owned())
            }

            fn expected() -> Cow<'static, str> {
                Cow::Owned(format!("must be one of {}", $words.into_iter().map(|(name, _): (_, $type)| name).collect::<Vec<_>>().join(", ")))
            }

            fn member() -> Option<&'static str> {
                Some("id")
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($name))
            }

            fn schema() -> ObjectBuilder {
                string_schema().enum_values(Some($words.into_iter().map(|(name, _): (_, $type)| name)))
            }
        }

        $(#[$doc])+
        pub type $name = In<$type>;
    )+};
}

/// Whether a new discount is in force at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstStatus(pub DiscountStatus);

wire_words! {
    /// How a customer is reached.
    ContactKind = customers::ContactKind, text, all();
    /// By what a company is looked for.
    CompanyField = organization::CompanyField, word, all();
    /// What a discount is now.
    DiscountState = catalog::DiscountState, text, all();
    /// What kind of thing a discount is for.
    DiscountTargetKind = catalog::TargetKind, text, all();
    /// How the number of a discount is meant.
    DiscountType = catalog::DiscountKind, text, all();
    /// What a job does.
    JobKind = bulk::JobKind, text, all();
    /// How far a job is.
    JobState = bulk::JobState, text, all();
    /// What becomes of periods that went by during a pause of the service.
    MissedPeriodsWord = subscriptions::MissedPeriods, text, all();
    /// The status of a new discount.
    NewDiscountStatus = FirstStatus, text, [
        ("active", FirstStatus(DiscountStatus::Active)),
        ("paused", FirstStatus(DiscountStatus::Paused)),
    ];
    /// How an employee took money by hand.
    HandMethodWord = kontor_orders::change::HandMethod, word, all();
    /// In which order customers see pages.
    PageOrder = content::PageOrder, text, all();
    /// In which order a storefront lists its products.
    ProductOrder = storefront::ProductOrder, text, all();
    /// What became of the goods of an order line.
    ReservationState = orders::ReservationState, text,
        [orders::ReservationState::Held, orders::ReservationState::Released, orders::ReservationState::Sold]
            .map(|state| (state.word(), state));
    /// Why a subscription is parked.
    ParkedWord = subscriptions::Park, text, all();
    /// The state of a subscription.
    SubscriptionState = subscriptions::SubscriptionStatus, text, all();
}
