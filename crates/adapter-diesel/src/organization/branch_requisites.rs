//! Bank accounts of branches: written under the lock of the branch, and entered in its history.

use async_trait::async_trait;
use kontor_kernel::history::part_changes;
use kontor_kernel::{
    BankRequisite, BankRequisiteChange, BankRequisiteDraft, BankRequisiteId, BranchId, OfProject, ProjectId,
    RecordError, Resource, Stamp, StoreError,
};
use kontor_organization::ports::BranchRequisiteRepository;
use kontor_organization::{BranchRequisiteError, BranchRequisiteRefusal};

use crate::bank_requisites::{Placed, Requisites};
use crate::database::idempotency::made;
use crate::database::{Abort, AnyConnection, Database};
use crate::statement::{IdRow, Statement};
use crate::{decode, histories};

pub(super) const REQUISITES: Requisites = Requisites { table: "branch_bank_requisites", owner: "branch_id" };

type Outcome<T> = Result<T, Abort<BranchRequisiteError>>;

/// Locks the branch of the project against concurrent writes.
fn hold(connection: &mut AnyConnection, project: ProjectId, branch: BranchId) -> Outcome<()> {
    let own = Statement::new("SELECT id FROM branches WHERE id = ")
        .value(branch.get())
        .sql(" AND project_id = ")
        .value(project.get())
        .locked(connection, " FOR NO KEY UPDATE");
    let found: Vec<IdRow> = own.rows(connection)?;
    if found.is_empty() { Err(Abort::Refused(RecordError::NotFound)) } else { Ok(()) }
}

fn one(connection: &mut AnyConnection, branch: BranchId, id: i64) -> Outcome<BankRequisite> {
    let own = REQUISITES.find(connection, id)?.filter(|placed| placed.owner == branch.get());
    own.map(|placed| placed.requisite).ok_or(Abort::Refused(RecordError::NotFound))
}

fn tell(
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

    async fn find(&self, id: BankRequisiteId) -> Result<Option<OfProject<(BranchId, BankRequisite)>>, StoreError> {
        self.read(move |connection| {
            let found = REQUISITES.find::<StoreError>(connection, id.get())?;
            let placed = |placed: Placed| {
                let owned = (decode::id(placed.owner)?, placed.requisite);
                Ok::<_, StoreError>(OfProject::new(decode::id(placed.project)?, owned))
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
            hold(connection, stamp.project_id, branch)?;
            if REQUISITES.count(connection, branch.get())? >= BankRequisite::MOST {
                return Err(Abort::refused(BranchRequisiteRefusal::TooMany));
            }
            let id = REQUISITES.insert(connection, &stamp, branch.get(), &draft)?;
            made("branch-bank-requisites", id);
            let new = one(connection, branch, id)?;
            tell(connection, &stamp, branch, None, &new)?;
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
            hold(connection, stamp.project_id, branch)?;
            let before = one(connection, branch, id.get())?;
            let draft = before.content.changed(change.clone());
            draft.check().map_err(|wrong| Abort::refused(BranchRequisiteRefusal::Invalid(wrong)))?;
            REQUISITES.update(connection, &stamp, id.get(), &draft)?;
            let after = one(connection, branch, id.get())?;
            tell(connection, &stamp, branch, Some(&before), &after)?;
            Ok(after)
        })
        .await
    }
}
