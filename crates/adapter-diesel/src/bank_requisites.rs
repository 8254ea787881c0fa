//! Bank accounts: one table per kind of owner, with the same columns.

use chrono::NaiveDateTime;
use diesel::result::QueryResult;
use kontor_kernel::{BankRequisite, BankRequisiteDraft, ProjectId, Stamp, StoreError};

use crate::database::{Abort, AnyConnection};
use crate::statement::{Statement, by_place};
use crate::{decode, unreadable};

/// Table of the bank accounts of one kind of owner.
pub(crate) struct Requisites {
    pub table: &'static str,
    /// Column of the owner.
    pub owner: &'static str,
}

/// Bank account with its owner and project.
pub(crate) struct Placed {
    pub project: i64,
    pub owner: i64,
    pub requisite: BankRequisite,
}

by_place! {
    struct RequisiteRow {
        id: i64,
        project_id: i64,
        owner_id: i64,
        bik: String,
        bank_name: String,
        correspondent_account: Option<String>,
        account: String,
        comment: Option<String>,
        created_at: NaiveDateTime,
        updated_at: NaiveDateTime,
    }
}

impl TryFrom<RequisiteRow> for Placed {
    type Error = StoreError;

    fn try_from(row: RequisiteRow) -> Result<Self, StoreError> {
        let requisite = BankRequisite {
            id: decode::id(row.id)?,
            content: BankRequisiteDraft {
                bik: decode::text(&row.bik)?,
                bank_name: decode::text(&row.bank_name)?,
                correspondent_account: decode::optional_text(row.correspondent_account.as_deref())?,
                account: decode::text(&row.account)?,
                comment: decode::optional_text(row.comment.as_deref())?,
            },
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        };
        Ok(Self { project: row.project_id, owner: row.owner_id, requisite })
    }
}

impl Requisites {
    fn load<R>(
        &self,
        connection: &mut AnyConnection,
        column: &'static str,
        number: i64,
    ) -> Result<Vec<RequisiteRow>, Abort<R>> {
        let Self { table, owner } = self;
        let all = Statement::new(format!(
            "SELECT id, project_id, {owner}, bik, bank_name, correspondent_account, account, comment, created_at, updated_at \
             FROM {table} WHERE {column} = "
        ));
        Ok(all.value(number).sql(" ORDER BY id").rows(connection)?)
    }

    /// Returns the account with this number.
    pub fn find<R>(&self, connection: &mut AnyConnection, id: i64) -> Result<Option<Placed>, Abort<R>> {
        Ok(self.load(connection, "id", id)?.pop().map(Placed::try_from).transpose()?)
    }

    /// Returns the accounts of an owner, oldest first, without unreadable ones.
    pub fn of_owner<R>(&self, connection: &mut AnyConnection, owner: i64) -> Result<Vec<Placed>, Abort<R>> {
        let rows = self.load(connection, self.owner, owner)?;
        Ok(unreadable::rows(self.table, rows, |row| row.id, Placed::try_from)?)
    }

    /// Returns the number of accounts of an owner.
    pub fn count(&self, connection: &mut AnyConnection, owner: i64) -> QueryResult<i64> {
        let Self { table, owner: column } = self;
        let count = Statement::new(format!("SELECT count(*) FROM {table} WHERE {column} = ")).value(owner);
        count.scalar(connection)
    }

    /// Inserts an account and returns its number.
    pub fn insert(
        &self,
        connection: &mut AnyConnection,
        stamp: &Stamp,
        owner: i64,
        draft: &BankRequisiteDraft,
    ) -> QueryResult<i64> {
        let Self { table, owner: column } = self;
        let at = stamp.at.naive_utc();
        let insert = Statement::new(format!(
            "INSERT INTO {table} (project_id, {column}, bik, bank_name, correspondent_account, account, comment, created_at, \
             updated_at) VALUES "
        ))
        .tuple([
            stamp.project_id.get().into(),
            owner.into(),
            draft.bik.as_str().into(),
            draft.bank_name.as_str().into(),
            draft.correspondent_account.as_deref().into(),
            draft.account.as_str().into(),
            draft.comment.as_deref().into(),
            at.into(),
            at.into(),
        ])
        .sql(" RETURNING id");
        insert.scalar(connection)
    }

    /// Overwrites all fields of an account.
    pub fn update(
        &self,
        connection: &mut AnyConnection,
        stamp: &Stamp,
        id: i64,
        draft: &BankRequisiteDraft,
    ) -> QueryResult<()> {
        Statement::new(format!("UPDATE {} SET version = version + 1, bik = ", self.table))
            .value(draft.bik.as_str())
            .sql(", bank_name = ")
            .value(draft.bank_name.as_str())
            .sql(", correspondent_account = ")
            .value(draft.correspondent_account.as_deref())
            .sql(", account = ")
            .value(draft.account.as_str())
            .sql(", comment = ")
            .value(draft.comment.as_deref())
            .sql(", updated_at = ")
            .value(stamp.at.naive_utc())
            .sql(" WHERE project_id = ")
            .value(stamp.project_id.get())
            .sql(" AND id = ")
            .value(id)
            .run(connection)?;
        Ok(())
    }

    /// Selects the numbers of the accounts of an owner.
    pub fn numbers(&self, owner: i64) -> Statement {
        let Self { table, owner: column } = self;
        Statement::new(format!("SELECT id FROM {table} WHERE {column} = ")).value(owner)
    }

    /// Deletes the accounts of an owner.
    pub fn delete_of(&self, connection: &mut AnyConnection, project: ProjectId, owner: i64) -> QueryResult<usize> {
        let Self { table, owner: column } = self;
        let own = Statement::new(format!("DELETE FROM {table} WHERE project_id = ")).value(project.get());
        own.sql(format!(" AND {column} = ")).value(owner).run(connection)
    }
}
