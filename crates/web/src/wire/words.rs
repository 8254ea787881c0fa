//! Wire form of types with a few fixed words, and of numbers and lists that belong to one domain.

use std::borrow::Cow;

use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content};
use kontor_auth::model as auth;
use kontor_catalog::{bulk, model as catalog, storefront};
use kontor_content::model as content;
use kontor_customers::model as customers;
use kontor_kernel::{DiscountStatus, Word};
use kontor_orders::model as orders;
use kontor_organization::model as organization;
use kontor_subscriptions as subscriptions;
use utoipa::openapi::ObjectBuilder;

use super::types::{PhotoUrl, integer, integer_schema, listed_at, string_schema, text};
use super::{In, InputErrors, Scalar, WireValue};

/// Accepts a text. Other values, such as a number, become an empty text, which matches no word.
fn word(scalar: Scalar) -> Result<String, String> {
    text(scalar).or(Ok(String::new()))
}

/// Returns every word of a type with its value.
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

/// Status of a new discount: active or paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstStatus(pub DiscountStatus);

wire_words! {
    /// State of an agent's call that needs approval.
    AgentActionStateWord = auth::AgentActionState, text, all();
    /// Treatment of an agent's calls.
    AgentRuleWord = auth::AgentRule, word, all();
    /// Contact type of a customer.
    ContactKind = customers::ContactKind, text, all();
    /// Search field of a company.
    CompanyField = organization::CompanyField, word, all();
    /// State of a webhook delivery.
    DeliveryState = kontor_webhooks::model::DeliveryStatus, text, all();
    /// Current state of a discount.
    DiscountState = catalog::DiscountState, text, all();
    /// Target type of a discount.
    DiscountTargetKind = catalog::TargetKind, text, all();
    /// Meaning of the number of a discount.
    DiscountType = catalog::DiscountKind, text, all();
    /// Order of the best-selling items.
    ItemOrder = kontor_orders::reports::ItemOrder, text, all();
    /// Job type.
    JobKind = bulk::JobKind, text, all();
    /// Job state.
    JobState = bulk::JobState, text, all();
    /// Language of messages to customers.
    Language = kontor_kernel::Language, word, all();
    /// Handling of periods missed during a pause of the service.
    MissedPeriodsWord = subscriptions::MissedPeriods, text, all();
    /// Status of a new discount.
    NewDiscountStatus = FirstStatus, text, [
        ("active", FirstStatus(DiscountStatus::Active)),
        ("paused", FirstStatus(DiscountStatus::Paused)),
    ];
    /// Method of a payment recorded by an employee.
    HandMethodWord = kontor_orders::change::ManualPaymentMethod, word, all();
    /// Sort order of content pages for customers.
    PageOrder = content::PageOrder, text, all();
    /// Sort order of the products of a storefront.
    ProductOrder = storefront::ProductOrder, text, all();
    /// Rows of a report.
    ReportStep = kontor_orders::reports::ReportStep, text, all();
    /// State of the goods of an order line.
    ReservationState = orders::ReservationState, text,
        [orders::ReservationState::Held, orders::ReservationState::Released, orders::ReservationState::Sold]
            .map(|state| (state.word(), state));
    /// Reason why a subscription is parked.
    ParkedWord = subscriptions::Park, text, all();
    /// State of a subscription.
    SubscriptionState = subscriptions::SubscriptionStatus, text, all();
}

/// Photos of an item, by URL.
#[derive(Debug, Clone)]
pub struct Gallery(pub catalog::Gallery);

impl Deserr<InputErrors> for Gallery {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        let photos: Vec<PhotoUrl> = Vec::deserialize_from_value(value, location)?;
        catalog::Gallery::new(photos.into_iter().map(|photo| photo.0).collect()).map(Self).map_err(|error| {
            take_cf_content(InputErrors::error::<V>(None, ErrorKind::Unexpected { msg: error.to_string() }, location))
        })
    }
}

macro_rules! wire_numbers {
    ($($(#[$doc:meta])+ $name:ident = $type:ty, $parse:expr, $schema:expr;)+) => {$(
        impl WireValue for $type {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                integer(scalar).and_then(|number| $parse(number).map_err(|error| error.to_string()))
            }

            fn expected() -> Cow<'static, str> {
                Cow::Borrowed("must be a whole number")
            }

            fn member() -> Option<&'static str> {
                Some("id")
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($name))
            }

            fn schema() -> ObjectBuilder {
                $schema
            }
        }

        $(#[$doc])+
        pub type $name = In<$type>;
    )+};
}

wire_numbers! {
    /// Number by which staff identify a category.
    CategoryCode = catalog::CategoryCode, catalog::CategoryCode::new,
        integer_schema().minimum(Some(1)).maximum(Some(catalog::CategoryCode::MAX_CODE));
    /// Months between two charges.
    BillingPeriod = catalog::BillingPeriod, catalog::BillingPeriod::months,
        integer_schema().minimum(Some(1)).maximum(Some(36));
    /// Position of a plan among those of its application.
    PlanPosition = catalog::PlanPosition, catalog::PlanPosition::new,
        integer_schema().minimum(Some(0)).maximum(Some(catalog::PlanPosition::LAST));
    /// Number by which an application identifies a block or a menu item.
    PartCode = content::PartCode, content::PartCode::new,
        integer_schema().minimum(Some(1)).maximum(Some(content::PartCode::MAX_CODE));
    /// `1` new, `2` in progress, `3` done, `4` canceled.
    TaskStatusId = organization::TaskStatus, |id| organization::TaskStatus::from_id(id).ok_or("must be 1, 2, 3 or 4"),
        listed_at(integer_schema().minimum(Some(1)), "/api/task_statuses");
    /// `1` employment contract, `2` avatar, `3` order file.
    FileTypeId = content::FileType, content::FileType::from_id,
        listed_at(integer_schema().minimum(Some(1)), "/api/file_types");
    /// Maximum number of units.
    PieceLimit = organization::PieceLimit, organization::PieceLimit::new,
        integer_schema().minimum(Some(0)).maximum(Some(organization::PieceLimit::MAX));
    /// Hours of a reservation.
    HoldHours = organization::HoldHours, organization::HoldHours::new,
        integer_schema().minimum(Some(1)).maximum(Some(organization::HoldHours::MAX));
    /// `1` Monday to `7` Sunday.
    Weekday = organization::Weekday, organization::Weekday::new,
        integer_schema().minimum(Some(1)).maximum(Some(7));
    /// `1` service, `2` goods.
    NomenclatureKind = catalog::NomenclatureKind, catalog::NomenclatureKind::try_from,
        listed_at(integer_schema().minimum(Some(1)), "/api/nomenclature_kinds");
}
