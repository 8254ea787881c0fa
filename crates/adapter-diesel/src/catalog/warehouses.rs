use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::model::{Edit, Reference, Warehouse, WarehouseChange, WarehouseDraft};
use kontor_catalog::ports::WarehouseRepository;
use kontor_catalog::{WarehouseError, WarehouseReference};
use kontor_kernel::{ApplicationId, BranchId, Listing, Page, ProjectId, Stamp, StoreError, WarehouseId};
use kontor_organization::model::IntegrationOwner;

use super::categories::reference;
use super::{lock_row, offer_refresh};
use crate::collation::sort_key;
use crate::database::invalidation::{Topic, invalidate};
use crate::database::{Abort, AnyConnection, Database, found, on_each};
use crate::integration_links;
use crate::listing::{Source, unsearched};
use crate::schema::{applications, branches, warehouse_applications, warehouses};
use crate::statement::Statement;
use crate::{histories, stock, stored};

#[derive(Queryable, Selectable)]
#[diesel(table_name = warehouses)]
struct WarehouseRow {
    id: i64,
    project_id: i64,
    branch_id: i64,
    name: String,
    address: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

/// These warehouses in this order, those that are left out.
fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<Warehouse>, Abort<R>> {
    let rows: Vec<(WarehouseRow, String)> = warehouses::table
        .inner_join(branches::table.on(warehouses::branch_id.eq(branches::id)))
        .filter(warehouses::id.eq_any(ids.to_vec()))
        .filter(warehouses::deleted_at.is_null())
        .select((WarehouseRow::as_select(), branches::name))
        .load(connection)?;
    let links: Vec<(i64, i64, String)> = warehouse_applications::table
        .inner_join(applications::table.on(warehouse_applications::application_id.eq(applications::id)))
        .filter(warehouse_applications::warehouse_id.eq_any(ids.to_vec()))
        .order(applications::id)
        .select((warehouse_applications::warehouse_id, applications::id, applications::name))
        .load(connection)?;
    let mut served: HashMap<i64, Vec<Reference<ApplicationId>>> = HashMap::new();
    for (warehouse, id, name) in links {
        served.entry(warehouse).or_default().push(reference(id, &name)?);
    }
    let mut records = HashMap::with_capacity(rows.len());
    for (row, branch) in rows {
        let record = Warehouse {
            id: stored::id(row.id)?,
            project_id: stored::id(row.project_id)?,
            name: stored::text(&row.name)?,
            address: stored::optional_text(row.address.as_deref())?,
            branch: reference(row.branch_id, &branch)?,
            applications: served.remove(&row.id).unwrap_or_default(),
            created_at: stored::moment(row.created_at),
            updated_at: stored::moment(row.updated_at),
        };
        records.insert(row.id, record);
    }
    Ok(ids.iter().filter_map(|id| records.remove(id)).collect())
}

fn one(connection: &mut AnyConnection, id: WarehouseId) -> Result<Warehouse, Abort<WarehouseError>> {
    load(connection, &[id.get()])?.pop().ok_or(Abort::Refused(WarehouseError::NotFound))
}

/// The warehouses of staff.
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

/// Which of the branch and the applications are not of the project.
fn unknown(
    connection: &mut AnyConnection,
    project: ProjectId,
    branch: Option<BranchId>,
    wanted: Option<&[ApplicationId]>,
) -> QueryResult<Vec<WarehouseReference>> {
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
    Ok(unknown)
}

#[derive(Insertable)]
#[diesel(table_name = warehouse_applications)]
struct LinkRow {
    warehouse_id: i64,
    application_id: i64,
}

fn link(connection: &mut AnyConnection, warehouse: i64, applications: &BTreeSet<i64>) -> QueryResult<()> {
    if applications.is_empty() {
        return Ok(());
    }
    let links: Vec<LinkRow> =
        applications.iter().map(|id| LinkRow { warehouse_id: warehouse, application_id: *id }).collect();
    on_each!(connection, concrete => {
        diesel::insert_into(warehouse_applications::table).values(&links).execute(concrete)?
    });
    Ok(())
}

/// A warehouse of the project that is there.
#[diesel::dsl::auto_type]
fn present(project: ProjectId, id: WarehouseId) -> _ {
    let (project, id): (i64, i64) = (project.get(), id.get());
    warehouses::table
        .filter(warehouses::id.eq(id))
        .filter(warehouses::project_id.eq(project))
        .filter(warehouses::deleted_at.is_null())
}

fn numbers(ids: &[ApplicationId]) -> BTreeSet<i64> {
    ids.iter().map(|id| id.get()).collect()
}

#[async_trait]
impl WarehouseRepository for Database {
    async fn find(&self, id: WarehouseId) -> Result<Option<Warehouse>, StoreError> {
        self.read_snapshot(move |connection| Ok(load(connection, &[id.get()])?.pop())).await
    }

    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Warehouse>, StoreError> {
        self.read_snapshot(move |connection| {
            let own = Statement::new("w.deleted_at IS NULL AND w.project_id = ").value(project.get());
            let found = WAREHOUSES.page(connection, own, &listing)?;
            Ok(found.with_items(load(connection, &found.items)?))
        })
        .await
    }

    async fn insert(&self, stamp: Stamp, draft: WarehouseDraft) -> Result<Warehouse, WarehouseError> {
        self.write(move |connection| {
            let (project, at) = (stamp.project_id, stamp.at);
            invalidate(Topic::Storefront, project.get());
            let unknown = unknown(connection, project, Some(draft.branch_id), draft.application_ids.as_deref())?;
            if !unknown.is_empty() {
                return Err(Abort::Refused(WarehouseError::UnknownReferences(unknown)));
            }
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
            link(connection, id, &links)?;
            let created = one(connection, stored::id(id)?)?;
            histories::created(connection, &stamp, &created)?;
            Ok(created)
        })
        .await
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: WarehouseId,
        change: WarehouseChange,
    ) -> Result<Warehouse, WarehouseError> {
        let written = self.write(move |connection| {
            let (project, at) = (stamp.project_id, stamp.at);
            invalidate(Topic::Storefront, project.get());
            let links = change.application_ids.as_set();
            let branch = change.branch_id.as_set().copied();
            let unknown = unknown(connection, project, branch, links.map(Vec::as_slice))?;
            if !unknown.is_empty() {
                return Err(Abort::Refused(WarehouseError::UnknownReferences(unknown)));
            }
            let own = present(project, id);
            lock_row!(connection, own.select(warehouses::id));
            let before = one(connection, id)?;
            let written = diesel::update(own)
                .set((
                    change
                        .name
                        .as_set()
                        .map(|name| (warehouses::name.eq(name.as_str()), warehouses::sort_key.eq(sort_key(name)))),
                    change.address.as_set().map(|address| warehouses::address.eq(address.as_deref())),
                    branch.map(|branch| warehouses::branch_id.eq(branch.get())),
                    warehouses::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
            if written == 0 {
                return Err(Abort::Refused(WarehouseError::NotFound));
            }
            let is_left = match &change.application_ids {
                Edit::Set(ids) => relink(connection, project, id, &numbers(ids))?,
                Edit::Keep => false,
            };
            let after = one(connection, id)?;
            histories::changed(connection, &stamp, &before, &after)?;
            Ok((after, is_left))
        });
        let (warehouse, is_left) = written.await?;
        if is_left {
            self.refresh_offers_rest(id).await;
        }
        Ok(warehouse)
    }

    async fn delete(&self, stamp: Stamp, id: WarehouseId) -> Result<(), WarehouseError> {
        self.write(move |connection| {
            let own = present(stamp.project_id, id);
            lock_row!(connection, own.select(warehouses::id));
            if !found!(connection, own)? {
                return Err(Abort::Refused(WarehouseError::NotFound));
            }
            let before = one(connection, id)?;
            let at = stamp.at.naive_utc();
            if !stock::retire(connection, id.get(), at)? {
                return Err(Abort::Refused(WarehouseError::Stocked));
            }
            // No piece lies here, so nothing of it is shown.
            let links = warehouse_applications::table.filter(warehouse_applications::warehouse_id.eq(id.get()));
            diesel::delete(links).execute(connection)?;
            integration_links::forget(connection, IntegrationOwner::Warehouse(id))?;
            diesel::update(own).set(warehouses::deleted_at.eq(at)).execute(connection)?;
            histories::deleted(connection, &stamp, &before)
        })
        .await
    }
}

/// Sells from the warehouse in these applications alone. Returns whether [`offer_refresh`] has to go on.
fn relink(
    connection: &mut AnyConnection,
    project: ProjectId,
    warehouse: WarehouseId,
    wanted: &BTreeSet<i64>,
) -> QueryResult<bool> {
    let links = warehouse_applications::table.filter(warehouse_applications::warehouse_id.eq(warehouse.get()));
    let current: Vec<i64> = links.select(warehouse_applications::application_id).load(connection)?;
    if current.into_iter().collect::<BTreeSet<_>>() == *wanted {
        return Ok(false);
    }
    diesel::delete(links).execute(connection)?;
    link(connection, warehouse.get(), wanted)?;
    offer_refresh::begin(connection, project, warehouse)
}
