//! Warehouses. After the links of a warehouse changed, its offers are refreshed in several transactions, so that others
//! wait for one batch and not for a whole large warehouse.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::QueryResult;
use kontor_catalog::model::{Reference, Warehouse, WarehouseChange, WarehouseDraft};
use kontor_catalog::ports::WarehouseRepository;
use kontor_catalog::{WarehouseError, WarehouseReference, WarehouseRefusal};
use kontor_kernel::{ApplicationId, BranchId, Listing, Page, ProjectId, ProjectScoped, Stamp, StoreError, WarehouseId};
use kontor_organization::model::IntegrationKind;

use crate::applications::delete_integration_links;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, Topic, found, on_each};
use crate::decode::{self, reference};
use crate::lease::is_here;
use crate::listing::{Source, unsearched};
use crate::read_models::offers;
use crate::records::{self, StoredRecord};
use crate::schema::{applications, branches, keyed, referred, warehouse_applications, warehouses};
use crate::statement::{Statement, by_place};
use crate::{stock, unreadable};

#[derive(Queryable, Selectable)]
#[diesel(table_name = warehouses)]
struct WarehouseRow {
    id: i64,
    project_id: i64,
    branch_id: i64,
    name: String,
    address: Option<String>,
    version: i64,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

/// Loads these warehouses in this order, those that are left out.
fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Warehouse>>, Abort<R>> {
    let rows: Vec<(WarehouseRow, String)> = warehouses::table
        .inner_join(referred!(branches, warehouses::branch_id))
        .filter(warehouses::id.eq_any(ids.to_vec()))
        .filter(warehouses::deleted_at.is_null())
        .select((WarehouseRow::as_select(), branches::name))
        .load(connection)?;
    let links: Vec<(i64, i64, String)> = warehouse_applications::table
        .inner_join(referred!(applications, warehouse_applications::application_id))
        .filter(warehouse_applications::warehouse_id.eq_any(ids.to_vec()))
        .order(applications::id)
        .select((warehouse_applications::warehouse_id, applications::id, applications::name))
        .load(connection)?;
    let mut served: HashMap<i64, Vec<Reference<ApplicationId>>> = HashMap::new();
    for (warehouse, id, name) in links {
        served.entry(warehouse).or_default().push(reference(id, &name)?);
    }
    let mut found = HashMap::with_capacity(rows.len());
    for (row, branch) in rows {
        let record = Warehouse {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            address: decode::optional_text(row.address.as_deref())?,
            branch: reference(row.branch_id, &branch)?,
            applications: served.remove(&row.id).unwrap_or_default(),
            version: decode::count(row.version)?,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        };
        found.insert(row.id, ProjectScoped::new(decode::id(row.project_id)?, record));
    }
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}

impl StoredRecord for Warehouse {
    const TABLE: &'static str = "warehouses";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        Ok(load(connection, &[id])?.pop())
    }
}

/// Source of the warehouse list for staff.
const WAREHOUSES: Source = Source {
    from: "warehouses w",
    id: "w.id",
    fields: &[
        ("id", "w.id"),
        ("name", "w.sort_key"),
        ("branch_id", "w.branch_id"),
        ("created_at", "w.created_at"),
        ("updated_at", "w.updated_at"),
    ],
    search: unsearched,
};

/// Requires that the branch and the applications belong to the project.
fn require_own(
    connection: &mut AnyConnection,
    project: ProjectId,
    branch: Option<BranchId>,
    wanted: Option<&[ApplicationId]>,
) -> Result<(), Abort<WarehouseError>> {
    let mut unknown = Vec::new();
    if let Some(branch) = branch {
        let own = branches::table.find(branch.get()).filter(branches::project_id.eq(project.get()));
        if !found!(connection, own)? {
            unknown.push(WarehouseReference::Branch);
        }
    }
    if let Some(wanted) = wanted {
        let own: Vec<i64> = applications::table
            .filter(applications::project_id.eq(project.get()))
            .select(applications::id)
            .load(connection)?;
        let own: BTreeSet<i64> = own.into_iter().collect();
        let foreign = wanted.iter().enumerate().filter(|(_, id)| !own.contains(&id.get()));
        unknown.extend(foreign.map(|(place, _)| WarehouseReference::Application(place)));
    }
    if unknown.is_empty() { Ok(()) } else { Err(Abort::refused(WarehouseRefusal::UnknownReferences(unknown))) }
}

#[derive(Insertable)]
#[diesel(table_name = warehouse_applications)]
#[expect(clippy::struct_field_names, reason = "the names of the columns")]
struct LinkRow {
    project_id: i64,
    warehouse_id: i64,
    application_id: i64,
}

fn link(
    connection: &mut AnyConnection,
    project: ProjectId,
    warehouse: i64,
    applications: &BTreeSet<i64>,
) -> QueryResult<()> {
    if applications.is_empty() {
        return Ok(());
    }
    let link = |id: &i64| LinkRow { project_id: project.get(), warehouse_id: warehouse, application_id: *id };
    let links: Vec<LinkRow> = applications.iter().map(link).collect();
    on_each!(connection, concrete => {
        diesel::insert_into(warehouse_applications::table).values(&links).execute(concrete)?
    });
    Ok(())
}

fn numbers(ids: &[ApplicationId]) -> BTreeSet<i64> {
    ids.iter().map(|id| id.get()).collect()
}

#[async_trait]
impl WarehouseRepository for Database {
    async fn find(&self, id: WarehouseId) -> Result<Option<ProjectScoped<Warehouse>>, StoreError> {
        self.snapshot(move |connection| Ok(load(connection, &[id.get()])?.pop())).await
    }

    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Warehouse>, StoreError> {
        self.snapshot(move |connection| {
            let own = Statement::new("w.deleted_at IS NULL AND w.project_id = ").value(project.get());
            let found = WAREHOUSES.page(connection, own, &listing)?;
            let items = unreadable::records(connection, "warehouses", &found.items, load)?;
            Ok(found.with_items(records::within(items, project)))
        })
        .await
    }

    async fn insert(&self, stamp: Stamp, draft: WarehouseDraft) -> Result<Warehouse, WarehouseError> {
        records::insert(self, stamp, move |connection| {
            let (project, at) = (stamp.project_id, stamp.at);
            require_own(connection, project, Some(draft.branch_id), draft.application_ids.as_deref())?;
            let links = match &draft.application_ids {
                Some(ids) => numbers(ids),
                None => applications::table
                    .filter(applications::branch_id.eq(draft.branch_id.get()))
                    .select(applications::id)
                    .load::<i64>(connection)?
                    .into_iter()
                    .collect(),
            };
            let id: i64 = diesel::insert_into(warehouses::table)
                .values((
                    warehouses::project_id.eq(project.get()),
                    warehouses::branch_id.eq(draft.branch_id.get()),
                    warehouses::name.eq(draft.name.as_str()),
                    warehouses::sort_key.eq(sort_key(&draft.name)),
                    warehouses::address.eq(draft.address.as_deref()),
                    warehouses::created_at.eq(at.naive_utc()),
                    warehouses::updated_at.eq(at.naive_utc()),
                ))
                .returning(warehouses::id)
                .get_result(connection)?;
            link(connection, project, id, &links)?;
            Ok(id)
        })
        .await
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: WarehouseId,
        change: WarehouseChange,
    ) -> Result<Warehouse, WarehouseError> {
        let relinks = change.application_ids.as_set().is_some();
        let warehouse = records::change(self, stamp, id.get(), move |connection, _: &Warehouse| {
            let (project, links) = (stamp.project_id, change.application_ids.as_set());
            let branch = change.branch_id.as_set().copied();
            require_own(connection, project, branch, links.map(Vec::as_slice))?;
            if let Some(ids) = links {
                relink(connection, project, id, &numbers(ids))?;
            }
            Ok(diesel::update(keyed!(warehouses, id.get(), stamp.project_id))
                .set((
                    change
                        .name
                        .as_set()
                        .map(|name| (warehouses::name.eq(name.as_str()), warehouses::sort_key.eq(sort_key(name)))),
                    change.address.as_set().map(|address| warehouses::address.eq(address.as_deref())),
                    branch.map(|branch| warehouses::branch_id.eq(branch.get())),
                    warehouses::version.eq(warehouses::version + 1),
                    warehouses::updated_at.eq(stamp.at.naive_utc()),
                ))
                .execute(connection)?)
        })
        .await?;
        if relinks {
            self.refresh_offers_rest(id).await;
        }
        Ok(warehouse)
    }

    async fn delete(&self, stamp: Stamp, id: WarehouseId) -> Result<(), WarehouseError> {
        records::delete(self, stamp, id.get(), move |connection, _: &Warehouse| {
            let at = stamp.at.naive_utc();
            if !stock::retire(connection, stamp.project_id.get(), id.get(), at)? {
                return Err(Abort::refused(WarehouseRefusal::Stocked));
            }
            // The warehouse has no stock, so none of it is shown.
            let project = stamp.project_id;
            diesel::delete(links_of(project, id)).execute(connection)?;
            let owner = Statement::default().value(id.get());
            delete_integration_links(connection, project, IntegrationKind::Warehouse, &owner)?;
            let gone =
                diesel::update(keyed!(warehouses, id.get(), stamp.project_id)).set(warehouses::deleted_at.eq(at));
            Ok(gone.execute(connection)?)
        })
        .await
    }
}

/// Selects the links of a warehouse to the applications that sell from it.
#[diesel::dsl::auto_type]
fn links_of(project: ProjectId, warehouse: WarehouseId) -> _ {
    let owner: i64 = project.get();
    let number: i64 = warehouse.get();
    warehouse_applications::table
        .filter(warehouse_applications::warehouse_id.eq(number))
        .filter(warehouse_applications::project_id.eq(owner))
}

/// Limits sales from the warehouse to these applications. [`Database::refresh_offers`] does the rest after the commit.
fn relink(
    connection: &mut AnyConnection,
    project: ProjectId,
    warehouse: WarehouseId,
    wanted: &BTreeSet<i64>,
) -> QueryResult<()> {
    let links = links_of(project, warehouse);
    let current: Vec<i64> = links.select(warehouse_applications::application_id).load(connection)?;
    if current.into_iter().collect::<BTreeSet<_>>() == *wanted {
        return Ok(());
    }
    diesel::delete(links).execute(connection)?;
    link(connection, project, warehouse.get(), wanted)?;
    begin_refresh(connection, project, warehouse)
}

/// Stock levels per batch.
const STEP: usize = 1_000;

by_place! {
    struct StockRow {
        id: i64,
        item: i64,
    }
}

by_place! {
    struct BegunRow {
        warehouse: i64,
        project: i64,
        after: i64,
    }
}

/// Starts with a warehouse whose links have just changed, in the same transaction. [`Database::refresh_offers_rest`]
/// continues with the rest.
fn begin_refresh(connection: &mut AnyConnection, project: ProjectId, warehouse: WarehouseId) -> QueryResult<()> {
    // Before the items, as in every later batch.
    Statement::new("INSERT INTO shelving (warehouse_id, project_id, after_id) VALUES ")
        .tuple([warehouse.get().into(), project.get().into(), 0_i64.into()])
        .sql(" ON CONFLICT (warehouse_id, project_id) DO UPDATE SET after_id = 0")
        .run(connection)?;
    step(connection, project.get(), warehouse.get(), 0)
}

/// Refreshes one batch. Stock levels without available units are skipped: their items are shown neither before nor
/// after.
fn step(connection: &mut AnyConnection, project: i64, warehouse: i64, after: i64) -> QueryResult<()> {
    let rows: Vec<StockRow> =
        Statement::new("SELECT id, nomenclature_id FROM inventories WHERE quantity > reserved AND warehouse_id = ")
            .value(warehouse)
            .sql(" AND id > ")
            .value(after)
            .sql(format!(" ORDER BY id LIMIT {STEP}"))
            .rows(connection)?;
    let items: Vec<i64> = rows.iter().map(|row| row.item).collect();
    offers::refresh_availability(connection, &items)?;
    let reached = match rows.last() {
        Some(last) if rows.len() == STEP => Statement::new("UPDATE shelving SET after_id = ").value(last.id),
        _ => Statement::new("DELETE FROM shelving"),
    };
    reached.sql(" WHERE warehouse_id = ").value(warehouse).sql(" AND project_id = ").value(project).run(connection)?;
    Ok(())
}

impl Database {
    /// Continues with the warehouse until nothing is left. After a failure, a worker continues.
    pub(super) async fn refresh_offers_rest(&self, warehouse: WarehouseId) {
        loop {
            match self.refresh_offers(warehouse).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(%error, %warehouse, "storefront offers are not fresh; a worker refreshes them later");
                    return;
                }
            }
        }
    }

    /// Refreshes the next batch of any unfinished warehouse. Returns `false` if there was none.
    pub async fn refresh_offers_next(&self) -> Result<bool, StoreError> {
        let begun = self.read(|connection| {
            let all = format!(
                "SELECT warehouse_id FROM shelving WHERE {} ORDER BY warehouse_id LIMIT 1",
                is_here("shelving")
            );
            Ok::<_, Abort<StoreError>>(Statement::new(all).scalars::<i64>(connection)?)
        });
        match begun.await?.first() {
            Some(warehouse) => self.refresh_offers(decode::id(*warehouse)?).await,
            None => Ok(false),
        }
    }

    async fn refresh_offers(&self, warehouse: WarehouseId) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let next = Statement::new("SELECT warehouse_id, project_id, after_id FROM shelving WHERE warehouse_id = ")
                .value(warehouse.get())
                .locked(connection, " FOR UPDATE");
            let next: Option<BegunRow> = next.row(connection).optional()?;
            let Some(BegunRow { warehouse, project, after }) = next else { return Ok(false) };
            connection.invalidate(Topic::Storefront, project);
            step(connection, project, warehouse, after)?;
            Ok::<_, Abort<StoreError>>(true)
        })
        .await
    }
}
