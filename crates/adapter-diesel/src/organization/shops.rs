//! Shops, for applications and for staff.

use std::cell::Cell;
use std::collections::HashMap;

use async_trait::async_trait;
use chrono::{NaiveDate, NaiveDateTime};
use diesel::prelude::*;
use kontor_kernel::{Line, PhotoUrl, ProjectId, ProjectScoped, ShopId, Stamp, StoreError, Zone};
use kontor_organization::model::{
    ExceptionTerms, Interval, Latitude, Longitude, OpeningTimes, Shop, ShopChange, ShopDetails, ShopException,
    ShopHoliday, ShopHours, StaffShop, TimeOfDay, TimesChange, Weekday,
};
use kontor_organization::ports::{OpeningTimesStore, ShopRepository};
use kontor_organization::{ShopError, ShopRefusal};

use super::require_branch;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database};
use crate::listing::{Source, key_contains, unsearched};
use crate::records::{self, DeletableRecord, ListedRecord, RepositoryRecord, StoredRecord};
use crate::schema::{keyed, shops};
use crate::statement::{Statement, Value, by_place};
use crate::versions::VersionedRecord;
use crate::{decode, unreadable};

#[derive(Queryable, Selectable)]
#[diesel(table_name = shops)]
struct ShopRow {
    id: i64,
    name: String,
    address: String,
    phone: Option<String>,
    photo: Option<String>,
    latitude: Option<String>,
    longitude: Option<String>,
    created_at: NaiveDateTime,
}

impl TryFrom<ShopRow> for Shop {
    type Error = StoreError;

    fn try_from(row: ShopRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            address: row.address,
            phone: row.phone,
            photo: row.photo,
            latitude: row.latitude,
            longitude: row.longitude,
            created_at: decode::moment(row.created_at),
        })
    }
}

#[async_trait]
impl ShopRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<Shop>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<ShopRow> = shops::table
                .filter(shops::project_id.eq(project.get()))
                .filter(shops::is_active.eq(true))
                .order(shops::id)
                .select(ShopRow::as_select())
                .load(connection)?;
            Ok::<_, Abort<StoreError>>(unreadable::rows("shops", rows, |row| row.id, Shop::try_from)?)
        })
        .await
    }

    async fn find(&self, project: ProjectId, id: ShopId) -> Result<Option<Shop>, StoreError> {
        self.read(move |connection| {
            let row: Option<ShopRow> = shops::table
                .find(id.get())
                .filter(shops::project_id.eq(project.get()))
                .filter(shops::is_active.eq(true))
                .select(ShopRow::as_select())
                .first(connection)
                .optional()?;
            Ok(row.map(Shop::try_from).transpose()?)
        })
        .await
    }
}

by_place! {
    struct StaffShopRow {
        id: i64,
        project_id: i64,
        branch_id: i64,
        branch_name: String,
        name: String,
        address: String,
        phone: Option<String>,
        photo: Option<String>,
        latitude: Option<String>,
        longitude: Option<String>,
        zone: Option<String>,
        project_zone: String,
        is_active: bool,
        version: i64,
        created_at: NaiveDateTime,
        updated_at: NaiveDateTime,
    }
}

const SHOPS: &str = "SELECT s.id, s.project_id, s.branch_id, b.name, s.name, s.address, s.phone, s.photo, s.latitude, \
    s.longitude, s.time_zone, p.time_zone, s.is_active, s.version, s.created_at, s.updated_at FROM shops s \
    JOIN branches b ON b.id = s.branch_id AND b.project_id = s.project_id JOIN projects p ON p.id = s.project_id \
    WHERE s.deleted_at IS NULL AND s.id";

by_place! {
    struct HoursRow {
        shop: i64,
        id: i64,
        weekday: i64,
        opens: String,
        closes: String,
        version: i64,
    }
}

by_place! {
    struct HolidayRow {
        shop: i64,
        id: i64,
        day: String,
        name: Option<String>,
        is_yearly: bool,
    }
}

by_place! {
    struct ExceptionRow {
        shop: i64,
        id: i64,
        day: String,
        opens: Option<String>,
        closes: Option<String>,
        note: Option<String>,
        version: i64,
    }
}

fn interval(opens: &str, closes: &str) -> Result<Interval, StoreError> {
    let time = |text: &str| TimeOfDay::parse(text).map_err(StoreError::corrupt);
    Interval::new(time(opens)?, time(closes)?).map_err(StoreError::corrupt)
}

fn day(text: &str) -> Result<NaiveDate, StoreError> {
    text.parse().map_err(StoreError::corrupt)
}

/// Returns the opening times of these shops.
fn times<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<HashMap<i64, OpeningTimes>, Abort<R>> {
    let rows = |columns: &'static str, order: &'static str| Statement::new(columns).among(ids).sql(order);
    let mut found: HashMap<i64, OpeningTimes> = HashMap::new();
    let hours: Vec<HoursRow> = rows(
        "SELECT shop_id, id, weekday, opens, closes, version FROM shop_hours WHERE shop_id",
        " ORDER BY shop_id, weekday, opens, id",
    )
    .rows(connection)?;
    for row in hours {
        let hours = ShopHours {
            id: decode::id(row.id)?,
            weekday: Weekday::new(row.weekday).map_err(StoreError::corrupt)?,
            interval: interval(&row.opens, &row.closes)?,
            version: decode::count(row.version)?,
        };
        found.entry(row.shop).or_default().hours.push(hours);
    }
    let holidays: Vec<HolidayRow> =
        rows("SELECT shop_id, id, day, name, is_yearly FROM shop_holidays WHERE shop_id", " ORDER BY shop_id, day, id")
            .rows(connection)?;
    for row in holidays {
        let (id, name) = (decode::id(row.id)?, decode::optional_text(row.name.as_deref())?);
        let holiday = ShopHoliday { id, day: day(&row.day)?, name, is_yearly: row.is_yearly };
        found.entry(row.shop).or_default().holidays.push(holiday);
    }
    let exceptions: Vec<ExceptionRow> = rows(
        "SELECT shop_id, id, day, opens, closes, note, version FROM shop_exceptions WHERE shop_id",
        " ORDER BY shop_id, day, opens, id",
    )
    .rows(connection)?;
    for row in exceptions {
        let hours = row.opens.as_deref().zip(row.closes.as_deref());
        let terms = ExceptionTerms {
            day: day(&row.day)?,
            interval: hours.map(|(opens, closes)| interval(opens, closes)).transpose()?,
            note: decode::optional_text(row.note.as_deref())?,
        };
        let exception = ShopException { id: decode::id(row.id)?, terms, version: decode::count(row.version)? };
        found.entry(row.shop).or_default().exceptions.push(exception);
    }
    Ok(found)
}

fn zone(name: &str) -> Result<Zone, StoreError> {
    Zone::parse(name).map_err(StoreError::corrupt)
}

fn shop(row: StaffShopRow, times: OpeningTimes) -> Result<StaffShop, StoreError> {
    let own_zone = row.zone.as_deref().map(zone).transpose()?;
    Ok(StaffShop {
        id: decode::id(row.id)?,
        details: ShopDetails {
            branch_id: decode::id(row.branch_id)?,
            name: decode::owned(row.name)?,
            address: decode::owned(row.address)?,
            phone: decode::optional_text(row.phone.as_deref())?,
            photo: decode::optional_text(row.photo.as_deref())?,
            latitude: row.latitude.as_deref().map(Latitude::parse).transpose().map_err(StoreError::corrupt)?,
            longitude: row.longitude.as_deref().map(Longitude::parse).transpose().map_err(StoreError::corrupt)?,
            zone: own_zone,
            is_active: row.is_active,
        },
        branch_name: decode::owned(row.branch_name)?,
        times: OpeningTimes { zone: own_zone.map_or_else(|| zone(&row.project_zone), Ok)?, ..times },
        version: decode::count(row.version)?,
        created_at: decode::moment(row.created_at),
        updated_at: decode::moment(row.updated_at),
    })
}

/// Loads these shops in this order, those that are left out.
fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<StaffShop>>, Abort<R>> {
    let rows: Vec<StaffShopRow> = Statement::new(SHOPS).among(ids).rows(connection)?;
    let mut times = times(connection, ids)?;
    let rows = rows.into_iter().map(|row| {
        let times = times.remove(&row.id).unwrap_or_default();
        (row.id, row.project_id, shop(row, times))
    });
    Ok(records::in_order_of(ids, rows)?)
}

impl StoredRecord for StaffShop {
    const TABLE: &'static str = "shops";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        Ok(load(connection, &[id])?.pop())
    }
}

impl RepositoryRecord for StaffShop {
    fn of_project(connection: &mut AnyConnection, project: i64) -> Result<Vec<Self>, Abort<StoreError>> {
        let own = shops::table.filter(shops::project_id.eq(project)).filter(shops::deleted_at.is_null());
        let ids: Vec<i64> = own.order(shops::id).select(shops::id).load(connection)?;
        Ok(records::within(unreadable::records(connection, Self::TABLE, &ids, load)?, decode::id(project)?))
    }

    fn insert(connection: &mut AnyConnection, stamp: &Stamp, draft: &ShopDetails) -> Result<i64, Abort<ShopError>> {
        require_branch(connection, stamp, Some(draft.branch_id), ShopRefusal::UnknownBranch)?;
        let at = stamp.at.naive_utc();
        let id = diesel::insert_into(shops::table)
            .values((
                (
                    shops::project_id.eq(stamp.project_id.get()),
                    shops::branch_id.eq(draft.branch_id.get()),
                    shops::name.eq(draft.name.as_str()),
                    shops::name_key.eq(draft.name.key()),
                    shops::sort_key.eq(sort_key(&draft.name)),
                    shops::address.eq(draft.address.as_str()),
                    shops::phone.eq(draft.phone.as_deref()),
                ),
                (
                    shops::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                    shops::latitude.eq(draft.latitude.as_ref().map(Latitude::as_str)),
                    shops::longitude.eq(draft.longitude.as_ref().map(Longitude::as_str)),
                    shops::time_zone.eq(draft.zone.map(Zone::name)),
                    shops::is_active.eq(draft.is_active),
                    shops::created_at.eq(at),
                    shops::updated_at.eq(at),
                ),
            ))
            .returning(shops::id)
            .get_result(connection)?;
        Ok(id)
    }

    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        before: &Self,
        change: &ShopChange,
    ) -> Result<usize, Abort<ShopError>> {
        require_branch(connection, stamp, change.branch_id.as_set().copied(), ShopRefusal::UnknownBranch)?;
        let changed = diesel::update(keyed!(shops, before.id.get(), stamp.project_id))
            .set((
                change.branch_id.as_set().map(|id| shops::branch_id.eq(id.get())),
                change.name.as_set().map(|name| {
                    let keys = (shops::name_key.eq(name.key()), shops::sort_key.eq(sort_key(name)));
                    (shops::name.eq(name.as_str()), keys)
                }),
                change.address.as_set().map(|address| shops::address.eq(address.as_str())),
                change.phone.as_set().map(|phone| shops::phone.eq(phone.as_deref())),
                change.photo.as_set().map(|url| shops::photo.eq(url.as_ref().map(PhotoUrl::as_str))),
                change.latitude.as_set().map(|degrees| shops::latitude.eq(degrees.as_ref().map(Latitude::as_str))),
                change.longitude.as_set().map(|degrees| shops::longitude.eq(degrees.as_ref().map(Longitude::as_str))),
                change.zone.as_set().map(|zone| shops::time_zone.eq(zone.map(Zone::name))),
                change.is_active.as_set().map(|shown| shops::is_active.eq(*shown)),
                shops::version.eq(shops::version + 1),
                shops::updated_at.eq(stamp.at.naive_utc()),
            ))
            .execute(connection)?;
        Ok(changed)
    }
}

impl DeletableRecord for StaffShop {
    /// Deletes a shop. Orders keep their reference to it.
    fn delete(connection: &mut AnyConnection, stamp: &Stamp, before: &Self) -> Result<usize, Abort<ShopError>> {
        let id = before.id.get();
        for table in ["shop_hours", "shop_holidays", "shop_exceptions"] {
            Statement::new(format!("DELETE FROM {table} WHERE project_id = "))
                .value(stamp.project_id.get())
                .sql(" AND shop_id = ")
                .value(id)
                .run(connection)?;
        }
        let gone = diesel::update(keyed!(shops, id, stamp.project_id)).set((
            shops::is_active.eq(false),
            shops::deleted_at.eq(stamp.at.naive_utc()),
            shops::version.eq(shops::version + 1),
        ));
        Ok(gone.execute(connection)?)
    }
}

impl ListedRecord for StaffShop {
    const SOURCE: Source = Source {
        from: "shops s",
        id: "s.id",
        fields: &[
            ("id", "s.id"),
            ("name", "s.sort_key"),
            ("branch_id", "s.branch_id"),
            ("is_active", "s.is_active"),
            ("created_at", "s.created_at"),
            ("updated_at", "s.updated_at"),
        ],
        search: unsearched,
    };
    const PROJECT: &'static str = "s.project_id";
    const NOT_DELETED: &'static str = "s.deleted_at IS NULL";

    fn load_many(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Self>>, Abort<StoreError>> {
        load(connection, ids)
    }

    fn found(_connection: &AnyConnection, _project: ProjectId, text: &Line<255>) -> Statement {
        key_contains("s.name_key", text)
    }
}

fn insert(
    connection: &mut AnyConnection,
    table: &'static str,
    columns: &'static str,
    values: impl IntoIterator<Item = Value>,
) -> QueryResult<i64> {
    let insert = Statement::new(format!("INSERT INTO {table} ({columns}) VALUES ")).tuple(values);
    insert.sql(" RETURNING id").scalar(connection)
}

fn remove(connection: &mut AnyConnection, table: &'static str, project: i64, id: i64) -> QueryResult<i64> {
    Statement::new(format!("DELETE FROM {table} WHERE project_id = "))
        .value(project)
        .sql(" AND id = ")
        .value(id)
        .run(connection)?;
    Ok(id)
}

/// Returns the stored form of an interval.
fn texts(interval: Option<Interval>) -> [Value; 2] {
    let text = |time: fn(Interval) -> TimeOfDay| interval.map(|interval| time(interval).to_string()).into();
    [text(Interval::opens), text(Interval::closes)]
}

/// Writes a checked change, and returns the id of the changed record.
fn write(connection: &mut AnyConnection, project: i64, shop: i64, change: &TimesChange) -> QueryResult<i64> {
    match change {
        TimesChange::AddHours(weekday, interval) => {
            let [opens, closes] = texts(Some(*interval));
            let values = [project.into(), shop.into(), weekday.number().into(), opens, closes];
            let id = insert(connection, "shop_hours", "project_id, shop_id, weekday, opens, closes", values)?;
            connection.note_created(VersionedRecord::ShopHours.kind(), id);
            Ok(id)
        }
        TimesChange::ChangeHours(id, weekday, interval) => {
            let [opens, closes] = texts(Some(*interval));
            Statement::new("UPDATE shop_hours SET version = version + 1, weekday = ")
                .value(weekday.number())
                .sql(", opens = ")
                .value(opens)
                .sql(", closes = ")
                .value(closes)
                .sql(" WHERE project_id = ")
                .value(project)
                .sql(" AND id = ")
                .value(id.get())
                .run(connection)?;
            Ok(id.get())
        }
        TimesChange::RemoveHours(id) => remove(connection, "shop_hours", project, id.get()),
        TimesChange::SetHoliday { day, name, is_yearly } => {
            let values = [
                project.into(),
                shop.into(),
                day.to_string().into(),
                name.as_ref().map(ToString::to_string).into(),
                (*is_yearly).into(),
            ];
            let set = Statement::new("INSERT INTO shop_holidays (project_id, shop_id, day, name, is_yearly) VALUES ");
            let set = set.tuple(values).sql(
                " ON CONFLICT (shop_id, day, project_id) \
                 DO UPDATE SET name = excluded.name, is_yearly = excluded.is_yearly RETURNING id",
            );
            set.scalar(connection)
        }
        TimesChange::ChangeHoliday(ShopHoliday { id, day, name, is_yearly }) => {
            Statement::new("UPDATE shop_holidays SET day = ")
                .value(day.to_string())
                .sql(", name = ")
                .value(name.as_ref().map(ToString::to_string))
                .sql(", is_yearly = ")
                .value(*is_yearly)
                .sql(" WHERE project_id = ")
                .value(project)
                .sql(" AND id = ")
                .value(id.get())
                .run(connection)?;
            Ok(id.get())
        }
        TimesChange::RemoveHoliday(id) => remove(connection, "shop_holidays", project, id.get()),
        TimesChange::AddException(terms) => {
            let [opens, closes] = texts(terms.interval);
            let note = terms.note.as_ref().map(ToString::to_string);
            let values = [project.into(), shop.into(), terms.day.to_string().into(), opens, closes, note.into()];
            let id = insert(connection, "shop_exceptions", "project_id, shop_id, day, opens, closes, note", values)?;
            connection.note_created(VersionedRecord::ShopException.kind(), id);
            Ok(id)
        }
        TimesChange::ChangeException(id, terms) => {
            let [opens, closes] = texts(terms.interval);
            Statement::new("UPDATE shop_exceptions SET version = version + 1, day = ")
                .value(terms.day.to_string())
                .sql(", opens = ")
                .value(opens)
                .sql(", closes = ")
                .value(closes)
                .sql(", note = ")
                .value(terms.note.as_ref().map(ToString::to_string))
                .sql(" WHERE project_id = ")
                .value(project)
                .sql(" AND id = ")
                .value(id.get())
                .run(connection)?;
            Ok(id.get())
        }
        TimesChange::RemoveException(id) => remove(connection, "shop_exceptions", project, id.get()),
    }
}

#[async_trait]
impl OpeningTimesStore for Database {
    async fn change_times(&self, stamp: Stamp, id: ShopId, change: TimesChange) -> Result<(StaffShop, i64), ShopError> {
        self.write(move |connection| {
            let about = Cell::new(0);
            let after = records::changed(connection, &stamp, id.get(), |connection, before: &StaffShop| {
                before.times.check(&change, stamp.at).map_err(|refused| Abort::refused(ShopRefusal::from(refused)))?;
                about.set(write(connection, stamp.project_id.get(), id.get(), &change)?);
                Ok(diesel::update(keyed!(shops, id.get(), stamp.project_id))
                    .set((shops::version.eq(shops::version + 1), shops::updated_at.eq(stamp.at.naive_utc())))
                    .execute(connection)?)
            })?;
            Ok((after, about.get()))
        })
        .await
    }
}
