//! Contacts of customers.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_customers::model::{ContactDraft, CustomerContact};
use kontor_kernel::{Stamp, StoreError, Word};

use super::parts::{PartSelection, Place, StoredPart};
use crate::database::{Abort, AnyConnection};
use crate::schema::counterparty_contacts;
use crate::{decode, unreadable};

#[derive(Queryable, Selectable)]
#[diesel(table_name = counterparty_contacts)]
struct ContactRow {
    id: i64,
    project_id: i64,
    counterparty_id: i64,
    kind: String,
    value: String,
    name: Option<String>,
    comment: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<ContactRow> for CustomerContact {
    type Error = StoreError;

    fn try_from(row: ContactRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            content: ContactDraft {
                kind: decode::word("counterparty_contacts", row.id, "kind", &row.kind)?,
                value: decode::text(&row.value)?,
                name: decode::optional_text(row.name.as_deref())?,
                comment: decode::optional_text(row.comment.as_deref())?,
            },
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

#[derive(AsChangeset, Insertable)]
#[diesel(table_name = counterparty_contacts, treat_none_as_null = true)]
struct Columns<'a> {
    kind: &'static str,
    value: &'a str,
    name: Option<String>,
    comment: Option<String>,
    updated_at: NaiveDateTime,
}

impl<'a> Columns<'a> {
    fn of(draft: &'a ContactDraft, stamp: &Stamp) -> Self {
        Self {
            kind: draft.kind.word(),
            value: &draft.value,
            name: draft.name.as_deref().map(str::to_owned),
            comment: draft.comment.as_deref().map(str::to_owned),
            updated_at: stamp.at.naive_utc(),
        }
    }
}

impl StoredPart for CustomerContact {
    const TABLE: &'static str = "counterparty_contacts";
    const KIND: &'static str = "contacts";

    fn load<R>(connection: &mut AnyConnection, which: PartSelection) -> Result<Vec<(Place, Self)>, Abort<R>> {
        let all = counterparty_contacts::table.order(counterparty_contacts::id).select(ContactRow::as_select());
        let contact = |row: ContactRow| {
            let place = Place { project: row.project_id, customer: row.counterparty_id };
            Ok::<_, StoreError>((place, row.try_into()?))
        };
        Ok(match which {
            PartSelection::Numbered(id) => {
                let row: Option<ContactRow> =
                    all.filter(counterparty_contacts::id.eq(id)).first(connection).optional()?;
                row.map(contact).into_iter().collect::<Result<_, _>>()?
            }
            PartSelection::OfCustomer(id) => {
                let rows: Vec<ContactRow> =
                    all.filter(counterparty_contacts::counterparty_id.eq(id)).load(connection)?;
                unreadable::rows(Self::TABLE, rows, |row| row.id, contact)?
            }
        })
    }

    fn insert(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        customer: i64,
        draft: &ContactDraft,
    ) -> Result<i64, QueryError> {
        diesel::insert_into(counterparty_contacts::table)
            .values((
                counterparty_contacts::project_id.eq(stamp.project_id.get()),
                counterparty_contacts::counterparty_id.eq(customer),
                Columns::of(draft, stamp),
                counterparty_contacts::created_at.eq(stamp.at.naive_utc()),
            ))
            .returning(counterparty_contacts::id)
            .get_result(connection)
    }

    fn update(connection: &mut AnyConnection, stamp: &Stamp, id: i64, draft: &ContactDraft) -> Result<(), QueryError> {
        diesel::update(counterparty_contacts::table.find(id))
            .set((Columns::of(draft, stamp), counterparty_contacts::version.eq(counterparty_contacts::version + 1)))
            .execute(connection)
            .map(|_| ())
    }
}
