//! Branches, and their bank accounts: written under the lock of the branch, and entered in its history.

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::history::part_changes;
use kontor_kernel::{
    BankRequisite, BankRequisiteChange, BankRequisiteDraft, BankRequisiteId, BranchId, Line, ProjectId, ProjectScoped,
    RecordError, Resource, Stamp, StoreError,
};
use kontor_organization::model::{Branch, IntegrationKind};
use kontor_organization::ports::BranchRequisiteRepository;
use kontor_organization::{BranchRefusal, BranchRequisiteError, BranchRequisiteRefusal};

use crate::applications::delete_integration_links;
use crate::bank_requisites::{Placed, Requisites};
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, on_reference};
use crate::listing::{Source, containing, key_contains, unsearched};
use crate::records::{self, DeletableRecord, Inserted, ListedRecord, RepositoryRecord, StoredRecord, Written};
use crate::schema::{branches, keyed};
use crate::statement::Statement;
use crate::{decode, histories, unreadable};

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

impl RepositoryRecord for Branch {
    fn of_project(connection: &mut AnyConnection, project: i64) -> Result<Vec<Self>, Abort<StoreError>> {
        let rows: Vec<BranchRow> = branches::table
            .filter(branches::project_id.eq(project))
            .order(branches::id)
            .select(BranchRow::as_select())
            .load(connection)?;
        Ok(unreadable::rows("branches", rows, |row| row.id, Self::try_from)?)
    }

    fn insert(connection: &mut AnyConnection, stamp: &Stamp, draft: &Self::Draft) -> Inserted<Self> {
        let at = stamp.at.naive_utc();
        Ok(diesel::insert_into(branches::table)
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
            .get_result(connection)?)
    }

    fn update(connection: &mut AnyConnection, stamp: &Stamp, before: &Self, change: &Self::Change) -> Written<Self> {
        change.check(before).map_err(|wrong| Abort::refused(BranchRefusal::Invalid(wrong)))?;
        let name = change.name.as_set();
        Ok(diesel::update(keyed!(branches, before.id.get(), stamp.project_id))
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
            .execute(connection)?)
    }
}

impl DeletableRecord for Branch {
    /// Deletes a branch with its bank accounts and their integrations.
    fn delete(connection: &mut AnyConnection, stamp: &Stamp, before: &Self) -> Written<Self> {
        let id = before.id.get();
        let accounts = REQUISITES.numbers(id);
        delete_integration_links(connection, stamp.project_id, IntegrationKind::BankRequisite, &accounts)?;
        REQUISITES.delete_of(connection, stamp.project_id, id)?;
        diesel::delete(keyed!(branches, id, stamp.project_id))
            .execute(connection)
            .map_err(on_reference(BranchRefusal::InUse))
    }
}

impl ListedRecord for Branch {
    const SOURCE: Source = Source {
        from: "branches b",
        id: "b.id",
        fields: &[
            ("id", "b.id"),
            ("name", "b.sort_key"),
            ("created_at", "b.created_at"),
            ("updated_at", "b.updated_at"),
        ],
        search: unsearched,
    };
    const PROJECT: &'static str = "b.project_id";

    fn load_many(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Self>>, Abort<StoreError>> {
        let rows: Vec<BranchRow> = branches::table
            .filter(branches::id.eq_any(ids.to_vec()))
            .select(BranchRow::as_select())
            .load(connection)?;
        let rows = rows.into_iter().map(|row| (row.id, row.project_id, Self::try_from(row)));
        Ok(records::in_order_of(ids, rows)?)
    }

    /// Searches by a part of the name or of the INN.
    fn found(_connection: &AnyConnection, _project: ProjectId, text: &Line<255>) -> Statement {
        Statement::new("(")
            .then(key_contains("b.name_key", text))
            .sql(" OR b.inn LIKE ")
            .value(containing(text))
            .sql(" ESCAPE '\\')")
    }
}

const REQUISITES: Requisites = Requisites { table: "branch_bank_requisites", owner: "branch_id" };

type Outcome<T> = Result<T, Abort<BranchRequisiteError>>;

/// Locks the branch of the project against concurrent writes.
fn lock_branch(connection: &mut AnyConnection, project: ProjectId, branch: BranchId) -> Outcome<()> {
    let own = Statement::new("SELECT id FROM branches WHERE id = ")
        .value(branch.get())
        .sql(" AND project_id = ")
        .value(project.get())
        .locked(connection, " FOR NO KEY UPDATE");
    if own.finds(connection)? { Ok(()) } else { Err(Abort::Refused(RecordError::NotFound)) }
}

fn one(connection: &mut AnyConnection, branch: BranchId, id: i64) -> Outcome<BankRequisite> {
    let own = REQUISITES.find(connection, id)?.filter(|placed| placed.owner == branch.get());
    own.map(|placed| placed.requisite).ok_or(Abort::Refused(RecordError::NotFound))
}

fn record_history(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    branch: BranchId,
    before: Option<&BankRequisite>,
    after: &BankRequisite,
) -> Outcome<()> {
    let before = before.map(|before| before.content.fields());
    let changes = part_changes(BankRequisite::NAME, after.id.get(), before, after.content.fields());
    histories::changed_many(connection, stamp, Resource::Branches, &[(branch.get(), changes)])
}

#[async_trait]
impl BranchRequisiteRepository for Database {
    async fn of_branch(&self, project: ProjectId, branch: BranchId) -> Result<Vec<BankRequisite>, StoreError> {
        self.read(move |connection| {
            let found = REQUISITES.of_owner::<StoreError>(connection, branch.get())?;
            let own = found.into_iter().filter(|placed| placed.project == project.get());
            Ok(own.map(|placed| placed.requisite).collect())
        })
        .await
    }

    async fn find(&self, id: BankRequisiteId) -> Result<Option<ProjectScoped<(BranchId, BankRequisite)>>, StoreError> {
        self.read(move |connection| {
            let found = REQUISITES.find::<StoreError>(connection, id.get())?;
            let placed = |placed: Placed| {
                let owned = (decode::id(placed.owner)?, placed.requisite);
                Ok::<_, StoreError>(ProjectScoped::new(decode::id(placed.project)?, owned))
            };
            Ok(found.map(placed).transpose()?)
        })
        .await
    }

    async fn insert(
        &self,
        stamp: Stamp,
        branch: BranchId,
        draft: BankRequisiteDraft,
    ) -> Result<BankRequisite, BranchRequisiteError> {
        self.write(move |connection| {
            lock_branch(connection, stamp.project_id, branch)?;
            if REQUISITES.count(connection, branch.get())? >= BankRequisite::MAX_PER_OWNER {
                return Err(Abort::refused(BranchRequisiteRefusal::TooMany));
            }
            let id = REQUISITES.insert(connection, &stamp, branch.get(), &draft)?;
            connection.note_created("branch-bank-requisites", id);
            let new = one(connection, branch, id)?;
            record_history(connection, &stamp, branch, None, &new)?;
            Ok(new)
        })
        .await
    }

    async fn update(
        &self,
        stamp: Stamp,
        branch: BranchId,
        id: BankRequisiteId,
        change: BankRequisiteChange,
    ) -> Result<BankRequisite, BranchRequisiteError> {
        self.write(move |connection| {
            lock_branch(connection, stamp.project_id, branch)?;
            let before = one(connection, branch, id.get())?;
            let draft = before.content.changed(change.clone());
            draft.check().map_err(|wrong| Abort::refused(BranchRequisiteRefusal::Invalid(wrong)))?;
            REQUISITES.update(connection, &stamp, id.get(), &draft)?;
            let after = one(connection, branch, id.get())?;
            record_history(connection, &stamp, branch, Some(&before), &after)?;
            Ok(after)
        })
        .await
    }
}
