//! Opening hours, holidays and exceptions of a shop.

use actix_web::web::Path;
use actix_web::{delete, get, post, put};
use chrono::NaiveDate;
use deserr::Deserr;
use kontor_kernel::{ShopExceptionId, ShopHoursId, Violations};
use kontor_organization::model::{ExceptionTerms, Interval, InvalidInterval, OpeningTimes, ShopHoliday, TimesChange};
use kontor_organization::{OpeningTimesService, StaffShopService};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::{ExceptionList, ExceptionResponse, HolidayList, HolidayResponse, HoursList, HoursResponse};
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, PathId, Service, SignedInStaff, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_hours)
        .service(add_hours)
        .service(show_hours)
        .service(update_hours)
        .service(remove_hours)
        .service(list_holidays)
        .service(set_holiday)
        .service(update_holiday)
        .service(remove_holiday)
        .service(list_exceptions)
        .service(add_exception)
        .service(show_exception)
        .service(update_exception)
        .service(remove_exception);
}

fn interval(opens: wire::TimeOfDay, closes: wire::TimeOfDay) -> Result<Interval, ApiError> {
    Interval::new(opens.0, closes.0).map_err(|error| match error {
        InvalidInterval::StartsAtEndOfDay => ApiError::invalid("opens_at", error),
        InvalidInterval::Empty => ApiError::invalid("closes_at", error),
    })
}

async fn times(staff: &SignedInStaff, shops: &StaffShopService, id: &PathId) -> Result<OpeningTimes, ApiError> {
    Ok(shops.read(staff, id.parse()?).await?.times)
}

/// Applies a change and returns the changed record.
async fn changed<T>(
    staff: &SignedInStaff,
    service: &OpeningTimesService,
    shop: &PathId,
    change: TimesChange,
    of: impl Fn(OpeningTimes, i64) -> Option<T>,
) -> Result<T, ApiError> {
    let (shop, about) = service.change(staff, shop.parse()?, change).await?;
    of(shop.times, about).ok_or_else(ApiError::not_found)
}

/// List the opening hours of a shop
///
/// Ordered by weekday and time.
#[utoipa::path(tag = "Shops", responses((status = 200, body = HoursList)))]
#[get("/api/shops/{id}/hours")]
async fn list_hours(staff: SignedInStaff, shops: Service<StaffShopService>, id: Path<PathId>) -> Answer<HoursList> {
    answer(times(&staff, &shops, &id).await?.hours)
}

/// Opening hours of a shop on a weekday.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct HoursInput {
    /// `1` Monday to `7` Sunday.
    weekday: wire::Weekday,
    /// `00:00` to `23:59`.
    opens_at: wire::TimeOfDay,
    /// Up to `24:00`. If earlier than `opens_at`, the shop closes on the next day.
    closes_at: wire::TimeOfDay,
}

/// Add opening hours to a shop
///
/// At most 50 entries per week. Overlapping hours are rejected.
#[utoipa::path(tag = "Shops", request_body = HoursInput, responses((status = 201, body = HoursResponse)))]
#[post("/api/shops/{id}/hours")]
async fn add_hours(
    staff: SignedInStaff,
    service: Service<OpeningTimesService>,
    id: Path<PathId>,
    body: Body<HoursInput>,
) -> Created<HoursResponse> {
    let new = body.0;
    let change = TimesChange::AddHours(new.weekday.0, interval(new.opens_at, new.closes_at)?);
    let one = |times: OpeningTimes, about| times.hours.into_iter().find(|hours| hours.id.get() == about);
    created(changed(&staff, &service, &id, change, one).await?)
}

/// Get opening hours of a shop
#[utoipa::path(tag = "Shops", responses((status = 200, body = HoursResponse)))]
#[get("/api/shops/{id}/hours/{hour_id}")]
async fn show_hours(staff: SignedInStaff, shops: Service<StaffShopService>, path: TwoIds) -> Answer<HoursResponse> {
    let id: ShopHoursId = path.1.parse()?;
    let hours = times(&staff, &shops, &path.0).await?.hours.into_iter().find(|hours| hours.id == id);
    answer(hours.ok_or_else(ApiError::not_found)?)
}

/// Update opening hours of a shop
#[utoipa::path(tag = "Shops", request_body = HoursInput, responses((status = 200, body = HoursResponse)))]
#[put("/api/shops/{id}/hours/{hour_id}")]
async fn update_hours(
    staff: SignedInStaff,
    service: Service<OpeningTimesService>,
    path: TwoIds,
    body: Body<HoursInput>,
) -> Answer<HoursResponse> {
    let new = body.0;
    let hours = interval(new.opens_at, new.closes_at)?;
    let change = TimesChange::ChangeHours(path.1.parse()?, new.weekday.0, hours);
    let one = |times: OpeningTimes, about| times.hours.into_iter().find(|hours| hours.id.get() == about);
    answer(changed(&staff, &service, &path.0, change, one).await?)
}

/// Remove opening hours from a shop
#[utoipa::path(tag = "Shops", responses((status = 200, body = Message)))]
#[delete("/api/shops/{id}/hours/{hour_id}")]
async fn remove_hours(staff: SignedInStaff, service: Service<OpeningTimesService>, path: TwoIds) -> Answer<Message> {
    service.change(&staff, path.0.parse()?, TimesChange::RemoveHours(path.1.parse()?)).await?;
    answer(Message::new("The hours were removed."))
}

/// List the holidays of a shop
///
/// The shop is closed on these days.
#[utoipa::path(tag = "Shops", responses((status = 200, body = HolidayList)))]
#[get("/api/shops/{id}/holidays")]
async fn list_holidays(
    staff: SignedInStaff,
    shops: Service<StaffShopService>,
    id: Path<PathId>,
) -> Answer<HolidayList> {
    answer(times(&staff, &shops, &id).await?.holidays)
}

/// Day on which a shop is closed.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct HolidayInput {
    date: wire::Date,
    #[deserr(default)]
    name: Option<wire::Name>,
    /// `true` if the holiday repeats every year. `false` by default.
    #[deserr(default)]
    is_yearly: Option<wire::Flag>,
}

/// Set a holiday of a shop
///
/// At most 500 holidays. A holiday on the same day is replaced.
#[utoipa::path(tag = "Shops", request_body = HolidayInput, responses((status = 201, body = HolidayResponse)))]
#[post("/api/shops/{id}/holidays")]
async fn set_holiday(
    staff: SignedInStaff,
    service: Service<OpeningTimesService>,
    id: Path<PathId>,
    body: Body<HolidayInput>,
) -> Created<HolidayResponse> {
    let new = body.0;
    let change = TimesChange::SetHoliday {
        day: new.date.0,
        name: new.name.map(|name| name.0),
        is_yearly: new.is_yearly.is_some_and(|flag| flag.0),
    };
    let one = |times: OpeningTimes, about| times.holidays.into_iter().find(|holiday| holiday.id.get() == about);
    created(changed(&staff, &service, &id, change, one).await?)
}

/// Update a holiday of a shop
///
/// Replaces all fields. Another day must not be a holiday yet.
#[utoipa::path(tag = "Shops", request_body = HolidayInput, responses((status = 200, body = HolidayResponse)))]
#[put("/api/shops/{id}/holidays/{holiday_id}")]
async fn update_holiday(
    staff: SignedInStaff,
    service: Service<OpeningTimesService>,
    path: TwoIds,
    body: Body<HolidayInput>,
) -> Answer<HolidayResponse> {
    let new = body.0;
    let holiday = ShopHoliday {
        id: path.1.parse()?,
        day: new.date.0,
        name: new.name.map(|name| name.0),
        is_yearly: new.is_yearly.is_some_and(|flag| flag.0),
    };
    let change = TimesChange::ChangeHoliday(holiday);
    let one = |times: OpeningTimes, about| times.holidays.into_iter().find(|holiday| holiday.id.get() == about);
    answer(changed(&staff, &service, &path.0, change, one).await?)
}

/// Remove a holiday from a shop
#[utoipa::path(tag = "Shops", responses((status = 200, body = Message)))]
#[delete("/api/shops/{id}/holidays/{holiday_id}")]
async fn remove_holiday(staff: SignedInStaff, service: Service<OpeningTimesService>, path: TwoIds) -> Answer<Message> {
    service.change(&staff, path.0.parse()?, TimesChange::RemoveHoliday(path.1.parse()?)).await?;
    answer(Message::new("The holiday was removed."))
}

/// List the special opening hours of a shop
///
/// Special hours apply to single days.
#[utoipa::path(tag = "Shops", responses((status = 200, body = ExceptionList)))]
#[get("/api/shops/{id}/exceptions")]
async fn list_exceptions(
    staff: SignedInStaff,
    shops: Service<StaffShopService>,
    id: Path<PathId>,
) -> Answer<ExceptionList> {
    answer(times(&staff, &shops, &id).await?.exceptions)
}

/// Special opening hours of a shop on one day. Without both times, the shop is closed.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ExceptionInput {
    date: wire::Date,
    #[deserr(default)]
    opens_at: Option<wire::TimeOfDay>,
    #[deserr(default)]
    closes_at: Option<wire::TimeOfDay>,
    #[deserr(default)]
    note: Option<wire::Line250>,
}

impl ExceptionInput {
    fn terms(self) -> Result<ExceptionTerms, ApiError> {
        let missing = |field: &str| {
            let mut violations = Violations::default();
            violations.add(field, "is required together with the other time");
            ApiError::from(violations)
        };
        let interval = match (self.opens_at, self.closes_at) {
            (Some(opens), Some(closes)) => Some(interval(opens, closes)?),
            (None, None) => None,
            (Some(_), None) => return Err(missing("closes_at")),
            (None, Some(_)) => return Err(missing("opens_at")),
        };
        let day: NaiveDate = self.date.0;
        Ok(ExceptionTerms { day, interval, note: self.note.map(|note| note.0) })
    }
}

/// Add special opening hours to a shop
///
/// At most 500 days in total. They replace the hours of the weekday, and a holiday.
#[utoipa::path(tag = "Shops", request_body = ExceptionInput, responses((status = 201, body = ExceptionResponse)))]
#[post("/api/shops/{id}/exceptions")]
async fn add_exception(
    staff: SignedInStaff,
    service: Service<OpeningTimesService>,
    id: Path<PathId>,
    body: Body<ExceptionInput>,
) -> Created<ExceptionResponse> {
    let change = TimesChange::AddException(body.0.terms()?);
    let one = |times: OpeningTimes, about| times.exceptions.into_iter().find(|other| other.id.get() == about);
    created(changed(&staff, &service, &id, change, one).await?)
}

/// Get special opening hours of a shop
#[utoipa::path(tag = "Shops", responses((status = 200, body = ExceptionResponse)))]
#[get("/api/shops/{id}/exceptions/{exception_id}")]
async fn show_exception(
    staff: SignedInStaff,
    shops: Service<StaffShopService>,
    path: TwoIds,
) -> Answer<ExceptionResponse> {
    let id: ShopExceptionId = path.1.parse()?;
    let exceptions = times(&staff, &shops, &path.0).await?.exceptions;
    answer(exceptions.into_iter().find(|exception| exception.id == id).ok_or_else(ApiError::not_found)?)
}

/// Update special opening hours of a shop
#[utoipa::path(tag = "Shops", request_body = ExceptionInput, responses((status = 200, body = ExceptionResponse)))]
#[put("/api/shops/{id}/exceptions/{exception_id}")]
async fn update_exception(
    staff: SignedInStaff,
    service: Service<OpeningTimesService>,
    path: TwoIds,
    body: Body<ExceptionInput>,
) -> Answer<ExceptionResponse> {
    let change = TimesChange::ChangeException(path.1.parse()?, body.0.terms()?);
    let one = |times: OpeningTimes, about| times.exceptions.into_iter().find(|other| other.id.get() == about);
    answer(changed(&staff, &service, &path.0, change, one).await?)
}

/// Remove special opening hours from a shop
///
/// The usual hours apply again.
#[utoipa::path(tag = "Shops", responses((status = 200, body = Message)))]
#[delete("/api/shops/{id}/exceptions/{exception_id}")]
async fn remove_exception(
    staff: SignedInStaff,
    service: Service<OpeningTimesService>,
    path: TwoIds,
) -> Answer<Message> {
    service.change(&staff, path.0.parse()?, TimesChange::RemoveException(path.1.parse()?)).await?;
    answer(Message::new("The exception was removed."))
}
