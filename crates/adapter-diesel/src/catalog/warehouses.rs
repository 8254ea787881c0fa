use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::{Edit, Warehouse, WarehouseChange, WarehouseDraft};
use kontor_catalog::ports::WarehouseRepository;
use kontor_catalog::{WarehouseError, WarehouseReference};
use kontor_kernel::{ApplicationId, BranchId, ProjectId, StoreError, WarehouseId};

use super::categories::reference;
use super::{found, offers};
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::schema::{applications, branches, inventories, warehouse_applications, warehouses};
use crate::stored;

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

fn load<R>(connection: &mut AnyConnection, id: WarehouseId) -> Result<Option<Warehouse>, Abort<R>> {
    let found: Option<(WarehouseRow, String)> = warehouses::table
        .inner_join(branches::table.on(warehouses::branch_id.eq(branches::id)))
        .filter(warehouses::id.eq(id.get()))
        .select((WarehouseRow::as_select(), branches::name))
        .first(connection)
        .optional()?;
    let Some((row, branch)) = found else { return Ok(None) };
    let links: Vec<(i64, String)> = warehouse_applications::table
        .inner_join(applications::table.on(warehouse_applications::application_id.eq(applications::id)))
        .filter(warehouse_applications::warehouse_id.eq(id.get()))
        .order(applications::id)
        .select((applications::id, applications::name))
        .load(connection)?;
    Ok(Some(Warehouse {
        id: stored::id(row.id)?,
        project_id: stored::id(row.project_id)?,
        name: stored::text(&row.name)?,
        address: stored::optional_text(row.address.as_deref())?,
        branch: reference(row.branch_id, &branch)?,
        applications: links.iter().map(|(id, name)| reference(*id, name)).collect::<Result<_, StoreError>>()?,
        created_at: stored::moment(row.created_at),
        updated_at: stored::moment(row.updated_at),
    }))
}

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

fn numbers(ids: &[ApplicationId]) -> BTreeSet<i64> {
    ids.iter().map(|id| id.get()).collect()
}

#[async_trait]
impl WarehouseRepository for Database {
    async fn find(&self, id: WarehouseId) -> Result<Option<Warehouse>, StoreError> {
        self.read_snapshot(move |connection| load(connection, id)).await
    }

    async fn insert(
        &self,
        project: ProjectId,
        draft: WarehouseDraft,
        at: DateTime<Utc>,
    ) -> Result<Warehouse, WarehouseError> {
        self.write(move |connection| {
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
                    warehouses::address.eq(draft.address.as_deref()),
                    warehouses::created_at.eq(at.naive_utc()),
                    warehouses::updated_at.eq(at.naive_utc()),
                ))
                .returning(warehouses::id)
                .get_result(connection)?;
            link(connection, id, &links)?;
            load(connection, stored::id(id)?)?.ok_or(Abort::Refused(WarehouseError::NotFound))
        })
        .await
    }

    async fn update(
        &self,
        project: ProjectId,
        id: WarehouseId,
        change: WarehouseChange,
        at: DateTime<Utc>,
    ) -> Result<Warehouse, WarehouseError> {
        self.write(move |connection| {
            let links = change.application_ids.as_set();
            let branch = change.branch_id.as_set().copied();
            let unknown = unknown(connection, project, branch, links.map(Vec::as_slice))?;
            if !unknown.is_empty() {
                return Err(Abort::Refused(WarehouseError::UnknownReferences(unknown)));
            }
            let own = warehouses::table.find(id.get()).filter(warehouses::project_id.eq(project.get()));
            let written = diesel::update(own)
                .set((
                    change.name.as_set().map(|name| warehouses::name.eq(name.as_str())),
                    change.address.as_set().map(|address| warehouses::address.eq(address.as_deref())),
                    branch.map(|branch| warehouses::branch_id.eq(branch.get())),
                    warehouses::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
            if written == 0 {
                return Err(Abort::Refused(WarehouseError::NotFound));
            }
            if let Edit::Set(ids) = &change.application_ids {
                relink(connection, id, &numbers(ids))?;
            }
            load(connection, id)?.ok_or(Abort::Refused(WarehouseError::NotFound))
        })
        .await
    }
}

/// Sells from the warehouse in these applications alone.
fn relink(connection: &mut AnyConnection, warehouse: WarehouseId, wanted: &BTreeSet<i64>) -> QueryResult<()> {
    let links = warehouse_applications::table.filter(warehouse_applications::warehouse_id.eq(warehouse.get()));
    let current: Vec<i64> = links.select(warehouse_applications::application_id).load(connection)?;
    if current.into_iter().collect::<BTreeSet<_>>() == *wanted {
        return Ok(());
    }
    diesel::delete(links).execute(connection)?;
    link(connection, warehouse.get(), wanted)?;
    let items: Vec<i64> = inventories::table
        .filter(inventories::warehouse_id.eq(warehouse.get()))
        .select(inventories::nomenclature_id)
        .load(connection)?;
    offers::refresh_availability(connection, &items)?;
    Ok(())
}
