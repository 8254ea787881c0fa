//! Records of shops and their opening times.

use chrono::{DateTime, NaiveDate, Utc};
use kontor_organization::model::{ShopException, ShopHoliday, ShopHours, StaffShop};
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::envelope::{list, one};
use kontor_web::wire::{NamedRecord, PhotoRecord};

/// Shop with the time for which its status is computed.
pub(super) struct ShopView {
    pub shop: StaffShop,
    pub now: DateTime<Utc>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct HoursRecord {
    id: i64,
    /// `1` Monday to `7` Sunday.
    weekday: i64,
    /// `00:00` to `23:59`.
    opens_at: String,
    /// If earlier than `opens_at`, the shop closes on the next day.
    closes_at: String,
}

impl From<ShopHours> for HoursRecord {
    fn from(hours: ShopHours) -> Self {
        Self {
            id: hours.id.get(),
            weekday: hours.weekday.number(),
            opens_at: hours.interval.opens().to_string(),
            closes_at: hours.interval.closes().to_string(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct HolidayRecord {
    id: i64,
    #[schema(value_type = String, format = Date)]
    date: NaiveDate,
    name: Option<String>,
    /// `true` if the holiday repeats every year.
    is_yearly: bool,
}

impl From<ShopHoliday> for HolidayRecord {
    fn from(holiday: ShopHoliday) -> Self {
        Self {
            id: holiday.id.get(),
            date: holiday.day,
            name: holiday.name.map(Into::into),
            is_yearly: holiday.is_yearly,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct ExceptionRecord {
    id: i64,
    #[schema(value_type = String, format = Date)]
    date: NaiveDate,
    /// `null` if the shop is closed on this day.
    opens_at: Option<String>,
    closes_at: Option<String>,
    note: Option<String>,
}

impl From<ShopException> for ExceptionRecord {
    fn from(exception: ShopException) -> Self {
        let terms = exception.terms;
        Self {
            id: exception.id.get(),
            date: terms.day,
            opens_at: terms.interval.map(|interval| interval.opens().to_string()),
            closes_at: terms.interval.map(|interval| interval.closes().to_string()),
            note: terms.note.map(Into::into),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct StaffShopRecord {
    id: i64,
    name: String,
    address: String,
    phone: Option<String>,
    photo: Option<PhotoRecord>,
    /// Degrees north, decimal string.
    latitude: Option<String>,
    /// Degrees east, decimal string.
    longitude: Option<String>,
    branch: NamedRecord,
    /// IANA name of the shop's time zone.
    time_zone: String,
    /// `true` if customers can see the shop.
    is_active: bool,
    /// `true` if the shop is open now, by its opening times.
    is_open_now: bool,
    /// Time when the shop next opens or closes. `null` if that is more than a year ahead.
    next_change_at: Option<DateTime<Utc>>,
    hours: Vec<HoursRecord>,
    holidays: Vec<HolidayRecord>,
    exceptions: Vec<ExceptionRecord>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<ShopView> for StaffShopRecord {
    fn from(ShopView { shop, now }: ShopView) -> Self {
        let (details, times) = (shop.details, shop.times);
        Self {
            id: shop.id.get(),
            name: details.name.into(),
            address: details.address.into(),
            phone: details.phone.map(|phone| phone.to_string()),
            photo: details.photo.map(Into::into),
            latitude: details.latitude.map(|degrees| degrees.to_string()),
            longitude: details.longitude.map(|degrees| degrees.to_string()),
            branch: NamedRecord::new(details.branch_id.get(), shop.branch_name),
            time_zone: times.zone.to_string(),
            is_active: details.is_active,
            is_open_now: times.open_at(now),
            next_change_at: times.next_change(now),
            hours: times.hours.into_iter().map(Into::into).collect(),
            holidays: times.holidays.into_iter().map(Into::into).collect(),
            exceptions: times.exceptions.into_iter().map(Into::into).collect(),
            created_at: shop.created_at,
            updated_at: shop.updated_at,
        }
    }
}

one!(/// Shop.
    pub(super) StaffShopResponse { shop: StaffShopRecord });
list!(/// Shops of the project.
    pub(super) StaffShopList { shops: [StaffShopRecord], shops_count of all, pagination });
list!(/// Opening hours of a shop.
    pub(super) HoursList { hours: [HoursRecord], hours_count });
one!(/// Opening hours of a weekday.
    pub(super) HoursResponse { hour: HoursRecord });
list!(/// Holidays of a shop.
    pub(super) HolidayList { holidays: [HolidayRecord], holidays_count });
one!(/// Holiday of a shop.
    pub(super) HolidayResponse { holiday: HolidayRecord });
list!(/// Special opening hours of a shop.
    pub(super) ExceptionList { exceptions: [ExceptionRecord], exceptions_count });
one!(/// Special opening hours of a shop on one day.
    pub(super) ExceptionResponse { exception: ExceptionRecord });
