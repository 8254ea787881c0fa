//! Shops, managed by staff.

mod times;

use std::sync::Arc;

use actix_web::web::{Data, Path};
use actix_web::{delete, get, post, put};
use chrono::{DateTime, NaiveDate, Utc};
use deserr::Deserr;
use kontor_kernel::listing::Sort;
use kontor_kernel::{BranchId, Clock};
use kontor_organization::model::{ShopChange, ShopDetails, ShopException, ShopHoliday, ShopHours, StaffShop};
use kontor_organization::{ShopHistory, StaffShopService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, TableRequest, list_params};
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors, NamedRecord, PhotoRecord, change_body};
use kontor_web::{Body, HistoryList, PageQuery, PathId, Query, Service, SignedInStaff};

handlers! {
    fn table_routes; StaffShopService, "Shops";

    /// List shops as a table
    table "/api/tables/shops" as list_shops_table(ShopParams) = page() -> TABLE;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_staff_shops)
        .service(create_shop)
        .service(show_staff_shop)
        .service(update_shop)
        .service(delete_shop)
        .service(list_shop_history);
    times::routes(config);
}

/// List shops
///
/// Includes closed shops.
#[utoipa::path(tag = "Shops", params(ShopParams), responses((status = 200, body = StaffShopList)))]
#[get("/api/shops")]
async fn list_staff_shops(
    staff: SignedInStaff,
    service: Service<StaffShopService>,
    clock: Data<Arc<dyn Clock>>,
    asked: TableRequest,
) -> Answer<StaffShopList> {
    let now = clock.now();
    let page = service.page(&staff, TABLE.listing(asked, 15)?).await?;
    answer(page.map(|shop| ShopView { shop, now }))
}

/// Create a shop
#[utoipa::path(tag = "Shops", request_body = NewShop, responses((status = 201, body = StaffShopResponse)))]
#[post("/api/shops")]
async fn create_shop(
    staff: SignedInStaff,
    service: Service<StaffShopService>,
    clock: Data<Arc<dyn Clock>>,
    body: Body<NewShop>,
) -> Created<StaffShopResponse> {
    let shop = service.create(&staff, body.0.into()).await?;
    created(ShopView { shop, now: clock.now() })
}

/// Get a shop with its opening times
#[utoipa::path(tag = "Shops", responses((status = 200, body = StaffShopResponse)))]
#[get("/api/shops/{id}")]
async fn show_staff_shop(
    staff: SignedInStaff,
    service: Service<StaffShopService>,
    clock: Data<Arc<dyn Clock>>,
    id: Path<PathId>,
) -> Answer<StaffShopResponse> {
    let shop = service.read(&staff, id.parse()?).await?;
    answer(ShopView { shop, now: clock.now() })
}

/// Update a shop
///
/// Fields that are not sent keep their values.
#[utoipa::path(tag = "Shops", request_body = ChangedShop, responses((status = 200, body = StaffShopResponse)))]
#[put("/api/shops/{id}")]
async fn update_shop(
    staff: SignedInStaff,
    service: Service<StaffShopService>,
    clock: Data<Arc<dyn Clock>>,
    id: Path<PathId>,
    body: Body<ChangedShop>,
) -> Answer<StaffShopResponse> {
    let shop = service.update(&staff, id.parse()?, body.0.into()).await?;
    answer(ShopView { shop, now: clock.now() })
}

/// Delete a shop
///
/// Orders keep their reference to the shop.
#[utoipa::path(tag = "Shops", responses((status = 200, body = Message)))]
#[delete("/api/shops/{id}")]
async fn delete_shop(staff: SignedInStaff, service: Service<StaffShopService>, id: Path<PathId>) -> Answer<Message> {
    service.delete(&staff, id.parse()?).await?;
    answer(Message::new("The shop was deleted."))
}

/// List the history of a shop
///
/// Newest first, including changes of opening times.
#[utoipa::path(tag = "Shops", params(PageQuery), responses((status = 200, body = HistoryList)))]
#[get("/api/shops/{id}/history")]
async fn list_shop_history(
    staff: SignedInStaff,
    service: Service<ShopHistory>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<HistoryList> {
    let page = query.0.page()?;
    answer(service.page(&staff, id.parse()?, page).await?)
}

/// Table of `GET /api/tables/shops`, with the parameters of `GET /api/shops`.
const TABLE: Table<StaffShop> = Table {
    id: 62,
    resource: "shops",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |shop| Cell::plain(shop.id.get())),
        Column::with_icon("name", "Name", |shop| Cell::Linked {
            value: shop.details.name.as_str().into(),
            icon: shop.details.photo.as_ref().map(ToString::to_string),
            link: Some(format!("/api/shops/{}", shop.id)),
        }),
        Column::new("address", "Address", |shop| Cell::plain(shop.details.address.as_str())),
        Column::new("phone", "Phone", |shop| Cell::plain(shop.details.phone.as_deref())),
        Column::with_icon("branch", "Branch", |shop| {
            Cell::linked(shop.branch_name.as_str(), format!("/api/branches/{}", shop.details.branch_id))
        }),
        Column::new("time_zone", "Time zone", |shop| Cell::plain(shop.times.zone.name())),
        Column::new("is_active", "Shown", |shop| Cell::plain(shop.details.is_active)),
        Column::new("created_at", "Created", |shop| Cell::moment(shop.created_at)),
        Column::new("updated_at", "Changed", |shop| Cell::moment(shop.updated_at)),
    ],
    sorts: &["id", "name", "created_at", "updated_at"],
    filters: &[
        Filter::id::<BranchId>("branch_id", "Of these branches."),
        Filter::flag("is_active", "Whether customers see it."),
    ],
    search: Some("Part of the name, in any case."),
    period: Some("created_at"),
    order: Sort::ascending("id"),
};

list_params! {
    /// Query parameters of `GET /api/shops` and `GET /api/tables/shops`.
    ShopParams of TABLE
}

/// Shop with the time for which its status is computed.
struct ShopView {
    pub shop: StaffShop,
    pub now: DateTime<Utc>,
}

#[derive(Serialize, ToSchema)]
struct HoursRecord {
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
struct HolidayRecord {
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
struct ExceptionRecord {
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
struct StaffShopRecord {
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
    StaffShopResponse { shop: StaffShopRecord });
list!(/// Shops of the project.
    StaffShopList { shops: [StaffShopRecord], shops_count of all, pagination });
list!(/// Opening hours of a shop.
    HoursList { hours: [HoursRecord], hours_count });
one!(/// Opening hours of a weekday.
    HoursResponse { hour: HoursRecord });
list!(/// Holidays of a shop.
    HolidayList { holidays: [HolidayRecord], holidays_count });
one!(/// Holiday of a shop.
    HolidayResponse { holiday: HolidayRecord });
list!(/// Special opening hours of a shop.
    ExceptionList { exceptions: [ExceptionRecord], exceptions_count });
one!(/// Special opening hours of a shop on one day.
    ExceptionResponse { exception: ExceptionRecord });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewShop {
    name: wire::Name,
    address: wire::Line500,
    branch_id: wire::BranchId,
    #[deserr(default)]
    phone: Option<wire::Phone>,
    /// URL of a picture.
    #[deserr(default)]
    photo: Option<wire::PhotoUrl>,
    /// Degrees north.
    #[deserr(default)]
    latitude: Option<wire::Latitude>,
    /// Degrees east.
    #[deserr(default)]
    longitude: Option<wire::Longitude>,
    /// IANA name of the time zone. By default, the time zone of the project.
    #[deserr(default)]
    time_zone: Option<wire::ZoneName>,
    /// `true` if customers can see the shop. `true` by default.
    #[deserr(default)]
    is_active: Option<wire::Flag>,
}

impl From<NewShop> for ShopDetails {
    fn from(new: NewShop) -> Self {
        Self {
            branch_id: new.branch_id.0,
            name: new.name.0,
            address: new.address.0,
            phone: new.phone.map(|phone| phone.0),
            photo: new.photo.map(|url| url.0),
            latitude: new.latitude.map(|degrees| degrees.0),
            longitude: new.longitude.map(|degrees| degrees.0),
            zone: new.time_zone.map(|zone| zone.0),
            is_active: new.is_active.is_none_or(|flag| flag.0),
        }
    }
}

change_body! {
    ChangedShop {
        name: wire::Name,
        address: wire::Line500,
        branch_id: wire::BranchId,
        phone: wire::Phone | null,
        photo: wire::PhotoUrl | null,
        latitude: wire::Latitude | null,
        longitude: wire::Longitude | null,
        /// `null` sets the time zone of the project.
        time_zone: wire::ZoneName | null,
        is_active: wire::Flag,
    }
}

impl From<ChangedShop> for ShopChange {
    fn from(changed: ChangedShop) -> Self {
        Self {
            branch_id: changed.branch_id.into(),
            name: changed.name.into(),
            address: changed.address.into(),
            phone: changed.phone.into(),
            photo: changed.photo.into(),
            latitude: changed.latitude.into(),
            longitude: changed.longitude.into(),
            zone: changed.time_zone.into(),
            is_active: changed.is_active.into(),
        }
    }
}
