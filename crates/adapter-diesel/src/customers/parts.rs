//! Contacts and bank accounts of customers: written under the lock of the customer and entered in the customer's
//! history.

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_customers::model::{ContactDraft, CustomerContact, CustomerRecordPart, Owned, part_changes};
use kontor_customers::ports::CustomerPartRepository;
use kontor_customers::{CustomerPartError, CustomerPartRefusal};
use kontor_kernel::{
    BankRequisite, BankRequisiteDraft, CounterpartyId, ProjectId, ProjectScoped, RecordError, Resource, Stamp,
    StoreError, Word,
};

use crate::bank_requisites::{Placed, Requisites};
use crate::customer_data::lock_customer_exclusively;
use crate::database::{Abort, AnyConnection, Database, found};
use crate::read_models::search::index_customer;
use crate::schema::{counterparties, counterparty_bank_requisites, counterparty_contacts, keyed};
use crate::statement::Statement;
use crate::{decode, histories, unreadable};

/// Columns that every such table has.
pub(super) struct Place {
    pub project: i64,
    pub customer: i64,
}

/// A part with its own table.
pub(super) trait StoredPart: CustomerRecordPart {
    /// Table name. Its columns are `id` for the part and `counterparty_id` for its customer.
    const TABLE: &'static str;
    /// Path segment of these parts.
    const KIND: &'static str;

    /// Loads the part with this id, or those of this customer, oldest first. In the list, rows that cannot be decoded
    /// are left out.
    fn load<R>(connection: &mut AnyConnection, which: PartSelection) -> Result<Vec<(Place, Self)>, Abort<R>>;

    /// Stores a part and returns its id.
    fn insert(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        customer: i64,
        draft: &Self::Draft,
    ) -> Result<i64, QueryError>;

    /// Replaces all values of a part.
    fn update(connection: &mut AnyConnection, stamp: &Stamp, id: i64, draft: &Self::Draft) -> Result<(), QueryError>;
}

/// Selection of parts.
#[derive(Clone, Copy)]
pub(super) enum PartSelection {
    Numbered(i64),
    OfCustomer(i64),
}

type Outcome<T> = Result<T, Abort<CustomerPartError>>;

/// Locks the customer of the project against concurrent writes. Refuses deleted customers.
fn lock_customer_record(connection: &mut AnyConnection, project: ProjectId, customer: CounterpartyId) -> Outcome<()> {
    let present = lock_customer_exclusively(connection, customer.get())?;
    let own = counterparties::table.find(customer.get()).filter(counterparties::project_id.eq(project.get()));
    if present && found!(connection, own)? { Ok(()) } else { Err(Abort::Refused(RecordError::NotFound)) }
}

fn one<P: StoredPart>(connection: &mut AnyConnection, customer: CounterpartyId, id: i64) -> Outcome<P> {
    let found = P::load(connection, PartSelection::Numbered(id))?.pop();
    let own = found.filter(|(place, _)| place.customer == customer.get());
    own.map(|(_, part)| part).ok_or(Abort::Refused(RecordError::NotFound))
}

/// Writes the history entry and updates the search index of the customer.
fn record_history<P: StoredPart>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    customer: CounterpartyId,
    before: Option<&P>,
    after: &P,
) -> Outcome<()> {
    let changes = part_changes(before, after);
    histories::changed_many(connection, stamp, Resource::Counterparties, &[(customer.get(), changes)])?;
    index_customer(connection, customer.get())
}

#[async_trait]
impl<P: StoredPart> CustomerPartRepository<P> for Database {
    async fn of_customer(&self, project: ProjectId, customer: CounterpartyId) -> Result<Vec<P>, StoreError> {
        self.read(move |connection| {
            let found = P::load(connection, PartSelection::OfCustomer(customer.get()))?;
            let own = found.into_iter().filter(|(place, _)| place.project == project.get());
            Ok::<_, Abort<StoreError>>(own.map(|(_, part)| part).collect())
        })
        .await
    }

    async fn find(&self, id: P::Id) -> Result<Option<ProjectScoped<Owned<P>>>, StoreError> {
        self.read(move |connection| {
            let Some((place, part)) = P::load::<StoreError>(connection, PartSelection::Numbered(id.into()))?.pop()
            else {
                return Ok(None);
            };
            let owned = Owned { customer: decode::id(place.customer)?, part };
            Ok(Some(ProjectScoped::new(decode::id(place.project)?, owned)))
        })
        .await
    }

    async fn insert(&self, stamp: Stamp, customer: CounterpartyId, draft: P::Draft) -> Result<P, CustomerPartError> {
        self.write(move |connection| {
            lock_customer_record(connection, stamp.project_id, customer)?;
            let few = Statement::new(format!("SELECT count(*) FROM {} WHERE counterparty_id = ", P::TABLE));
            if few.value(customer.get()).scalar::<i64>(connection)? >= P::MAX_PER_OWNER {
                return Err(Abort::refused(CustomerPartRefusal::TooMany));
            }
            let id = P::insert(connection, &stamp, customer.get(), &draft)?;
            connection.note_created(P::KIND, id);
            let new = one::<P>(connection, customer, id)?;
            record_history(connection, &stamp, customer, None, &new)?;
            Ok(new)
        })
        .await
    }

    async fn update(
        &self,
        stamp: Stamp,
        customer: CounterpartyId,
        id: P::Id,
        change: P::Change,
    ) -> Result<P, CustomerPartError> {
        self.write(move |connection| {
            lock_customer_record(connection, stamp.project_id, customer)?;
            let before = one::<P>(connection, customer, id.into())?;
            let draft = P::checked(before.changed(change.clone()));
            let draft = draft.map_err(|wrong| Abort::refused(CustomerPartRefusal::Invalid(wrong)))?;
            P::update(connection, &stamp, id.into(), &draft)?;
            let after = one::<P>(connection, customer, id.into())?;
            record_history(connection, &stamp, customer, Some(&before), &after)?;
            Ok(after)
        })
        .await
    }
}

/// Deletes everything that belongs to a customer.
pub(super) fn delete_all(connection: &mut AnyConnection, project: i64, customer: i64) -> Result<(), QueryError> {
    let contacts = counterparty_contacts::table
        .filter(counterparty_contacts::project_id.eq(project))
        .filter(counterparty_contacts::counterparty_id.eq(customer));
    diesel::delete(contacts).execute(connection)?;
    let requisites = counterparty_bank_requisites::table
        .filter(counterparty_bank_requisites::project_id.eq(project))
        .filter(counterparty_bank_requisites::counterparty_id.eq(customer));
    diesel::delete(requisites).execute(connection)?;
    Ok(())
}

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
        diesel::update(keyed!(counterparty_contacts, id, stamp.project_id))
            .set((Columns::of(draft, stamp), counterparty_contacts::version.eq(counterparty_contacts::version + 1)))
            .execute(connection)
            .map(|_| ())
    }
}

const REQUISITES: Requisites = Requisites { table: "counterparty_bank_requisites", owner: "counterparty_id" };

impl StoredPart for BankRequisite {
    const TABLE: &'static str = REQUISITES.table;
    const KIND: &'static str = "bank_requisites";

    fn load<R>(connection: &mut AnyConnection, which: PartSelection) -> Result<Vec<(Place, Self)>, Abort<R>> {
        let found = match which {
            PartSelection::Numbered(id) => REQUISITES.find(connection, id)?.into_iter().collect(),
            PartSelection::OfCustomer(id) => REQUISITES.of_owner(connection, id)?,
        };
        let part = |placed: Placed| (Place { project: placed.project, customer: placed.owner }, placed.requisite);
        Ok(found.into_iter().map(part).collect())
    }

    fn insert(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        customer: i64,
        draft: &BankRequisiteDraft,
    ) -> Result<i64, QueryError> {
        REQUISITES.insert(connection, stamp, customer, draft)
    }

    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        id: i64,
        draft: &BankRequisiteDraft,
    ) -> Result<(), QueryError> {
        REQUISITES.update(connection, stamp, id, draft)
    }
}
