//! Bank accounts of branches: written under the lock of the branch, and entered in its history.

use async_trait::async_trait;
use kontor_kernel::history::part_changes;
use kontor_kernel::{
    BankRequisite, BankRequisiteChange, BankRequisiteDraft, BankRequisiteId, BranchId, ProjectId, ProjectScoped,
    RecordError, Resource, Stamp, StoreError,
};
use kontor_organization::ports::BranchRequisiteRepository;
use kontor_organization::{BranchRequisiteError, BranchRequisiteRefusal};

use crate::bank_requisites::{Placed, Requisites};
use crate::database::{Abort, AnyConnection, Database};
use crate::statement::Statement;
use crate::{decode, histories};

pub(super) const REQUISITES: Requisites = Requisites { table: "branch_bank_requisites", owner: "branch_id" };

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
