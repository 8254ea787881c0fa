//! Accounts of customers in banks.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_customers::model::{BankRequisite, BankRequisiteDraft};
use kontor_kernel::{Stamp, StoreError};

use super::parts::{Place, StoredPart, Which};
use crate::database::{Abort, AnyConnection};
use crate::schema::counterparty_bank_requisites::{self as requisites, table};
use crate::stored;

#[derive(Queryable, Selectable)]
#[diesel(table_name = requisites)]
struct RequisiteRow {
    id: i64,
    project_id: i64,
    counterparty_id: i64,
    bik: String,
    bank_name: String,
    correspondent_account: Option<String>,
    account: String,
    comment: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<RequisiteRow> for BankRequisite {
    type Error = StoreError;

    fn try_from(row: RequisiteRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored::id(row.id)?,
            content: BankRequisiteDraft {
                bik: stored::text(&row.bik)?,
                bank_name: stored::text(&row.bank_name)?,
                correspondent_account: stored::optional_text(row.correspondent_account.as_deref())?,
                account: stored::text(&row.account)?,
                comment: stored::optional_text(row.comment.as_deref())?,
            },
            created_at: stored::moment(row.created_at),
            updated_at: stored::moment(row.updated_at),
        })
    }
}

#[derive(AsChangeset, Insertable)]
#[diesel(table_name = requisites, treat_none_as_null = true)]
struct Columns<'a> {
    bik: &'a str,
    bank_name: &'a str,
    correspondent_account: Option<String>,
    account: &'a str,
    comment: Option<String>,
    updated_at: NaiveDateTime,
}

impl<'a> Columns<'a> {
    fn of(draft: &'a BankRequisiteDraft, stamp: &Stamp) -> Self {
        Self {
            bik: &draft.bik,
            bank_name: &draft.bank_name,
            correspondent_account: draft.correspondent_account.as_deref().map(str::to_owned),
            account: &draft.account,
            comment: draft.comment.as_deref().map(str::to_owned),
            updated_at: stamp.at.naive_utc(),
        }
    }
}

impl StoredPart for BankRequisite {
    const TABLE: &'static str = "counterparty_bank_requisites";
    const KIND: &'static str = "bank_requisites";

    fn load<R>(connection: &mut AnyConnection, which: Which) -> Result<Vec<(Place, Self)>, Abort<R>> {
        let all = table.order(requisites::id).select(RequisiteRow::as_select());
        let rows: Vec<RequisiteRow> = match which {
            Which::Numbered(id) => all.filter(requisites::id.eq(id)).load(connection)?,
            Which::OfCustomer(id) => all.filter(requisites::counterparty_id.eq(id)).load(connection)?,
        };
        let place = |row: &RequisiteRow| Place { project: row.project_id, customer: row.counterparty_id };
        rows.into_iter().map(|row| Ok((place(&row), row.try_into()?))).collect()
    }

    fn insert(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        customer: i64,
        draft: &BankRequisiteDraft,
    ) -> Result<i64, QueryError> {
        diesel::insert_into(table)
            .values((
                requisites::project_id.eq(stamp.project_id.get()),
                requisites::counterparty_id.eq(customer),
                Columns::of(draft, stamp),
                requisites::created_at.eq(stamp.at.naive_utc()),
            ))
            .returning(requisites::id)
            .get_result(connection)
    }

    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        id: i64,
        draft: &BankRequisiteDraft,
    ) -> Result<(), QueryError> {
        diesel::update(table.find(id))
            .set((Columns::of(draft, stamp), requisites::version.eq(requisites::version + 1)))
            .execute(connection)
            .map(|_| ())
    }
}
