use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{BranchId, Line, Listing, Page, ProjectId, ProjectScoped, Stamp, StoreError};
use kontor_organization::model::{Branch, BranchChange, BranchDraft, IntegrationKind};
use kontor_organization::ports::BranchRepository;
use kontor_organization::{BranchError, BranchRefusal};

use super::branch_requisites::REQUISITES;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, on_reference};
use crate::decode;
use crate::integration_links;
use crate::listing::{Source, containing, in_order, key_contains};
use crate::records::{self, StoredRecord};
use crate::schema::branches;
use crate::statement::Statement;
use crate::unreadable;

#[derive(Queryable, Selectable)]
#[diesel(table_name = branches)]
struct BranchRow {
    id: i64,
    project_id: i64,
    name: String,
    inn: Option<String>,
    kpp: Option<String>,
    address: Option<String>,
    phone: Option<String>,
    email: Option<String>,
    version: i64,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<BranchRow> for Branch {
    type Error = StoreError;

    fn try_from(row: BranchRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            inn: decode::optional_text(row.inn.as_deref())?,
            kpp: decode::optional_text(row.kpp.as_deref())?,
            address: decode::optional_text(row.address.as_deref())?,
            phone: decode::optional_text(row.phone.as_deref())?,
            email: decode::optional_text(row.email.as_deref())?,
            version: decode::count(row.version)?,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

impl StoredRecord for Branch {
    const TABLE: &'static str = "branches";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let row: Option<BranchRow> =
            branches::table.find(id).select(BranchRow::as_select()).first(connection).optional()?;
        Ok(row.map(|row| records::of_project(row.project_id, row.try_into())).transpose()?)
    }
}

/// Source of the branch list for staff.
const BRANCHES: Source = Source {
    from: "branches b",
    id: "b.id",
    fields: &[("id", "b.id"), ("name", "b.sort_key"), ("created_at", "b.created_at"), ("updated_at", "b.updated_at")],
    search: found_by,
};

/// Searches by a part of the name or of the INN.
fn found_by(text: &Line<255>) -> Statement {
    Statement::new("(")
        .then(key_contains("b.name_key", text))
        .sql(" OR b.inn LIKE ")
        .value(containing(text))
        .sql(" ESCAPE '\\')")
}

#[async_trait]
impl BranchRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<Branch>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<BranchRow> = branches::table
                .filter(branches::project_id.eq(project.get()))
                .order(branches::id)
                .select(BranchRow::as_select())
                .load(connection)?;
            Ok(unreadable::rows("branches", rows, |row| row.id, Branch::try_from)?)
        })
        .await
    }

    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<Branch>, StoreError> {
        self.read_snapshot(move |connection| {
            let own = Statement::new("b.project_id = ").value(project.get());
            let found = BRANCHES.page(connection, own, &listing)?;
            let rows: Vec<BranchRow> = branches::table
                .filter(branches::id.eq_any(found.items.clone()))
                .select(BranchRow::as_select())
                .load(connection)?;
            let rows = unreadable::rows("branches", rows, |row| row.id, Branch::try_from)?;
            let ordered = in_order(&found.items, rows, |branch| branch.id.get());
            Ok::<_, Abort<StoreError>>(found.with_items(ordered))
        })
        .await
    }

    async fn find(&self, id: BranchId) -> Result<Option<ProjectScoped<Branch>>, StoreError> {
        records::find(self, id.get()).await
    }

    async fn insert(&self, stamp: Stamp, draft: BranchDraft) -> Result<Branch, BranchError> {
        records::insert(self, stamp, move |connection| {
            let at = stamp.at.naive_utc();
            let id = diesel::insert_into(branches::table)
                .values((
                    branches::project_id.eq(stamp.project_id.get()),
                    branches::name.eq(draft.name.as_str()),
                    branches::name_key.eq(draft.name.key()),
                    branches::sort_key.eq(sort_key(&draft.name)),
                    branches::inn.eq(draft.inn.as_deref()),
                    branches::kpp.eq(draft.kpp.as_deref()),
                    branches::address.eq(draft.address.as_deref()),
                    branches::phone.eq(draft.phone.as_deref()),
                    branches::email.eq(draft.email.as_deref()),
                    branches::created_at.eq(at),
                    branches::updated_at.eq(at),
                ))
                .returning(branches::id)
                .get_result(connection)?;
            Ok(id)
        })
        .await
    }

    async fn update(&self, stamp: Stamp, id: BranchId, change: BranchChange) -> Result<Branch, BranchError> {
        records::change(self, stamp, id.get(), move |connection, before: &Branch| {
            change.check(before).map_err(|wrong| Abort::refused(BranchRefusal::Invalid(wrong)))?;
            let name = change.name.as_set();
            let changed = diesel::update(branches::table.find(id.get()))
                .set((
                    name.map(|name| branches::name.eq(name.as_str())),
                    name.map(|name| (branches::name_key.eq(name.key()), branches::sort_key.eq(sort_key(name)))),
                    change.inn.as_set().map(|inn| branches::inn.eq(inn.as_deref())),
                    change.kpp.as_set().map(|kpp| branches::kpp.eq(kpp.as_deref())),
                    change.address.as_set().map(|address| branches::address.eq(address.as_deref())),
                    change.phone.as_set().map(|phone| branches::phone.eq(phone.as_deref())),
                    change.email.as_set().map(|email| branches::email.eq(email.as_deref())),
                    branches::version.eq(branches::version + 1),
                    branches::updated_at.eq(stamp.at.naive_utc()),
                ))
                .execute(connection)?;
            Ok(changed)
        })
        .await
    }

    async fn delete(&self, stamp: Stamp, id: BranchId) -> Result<(), BranchError> {
        records::delete(self, stamp, id.get(), move |connection, _: &Branch| {
            integration_links::forget(connection, IntegrationKind::BankRequisite, &REQUISITES.numbers(id.get()))?;
            REQUISITES.forget(connection, id.get())?;
            diesel::delete(branches::table.find(id.get()))
                .execute(connection)
                .map_err(on_reference(BranchRefusal::InUse))
        })
        .await
    }
}
