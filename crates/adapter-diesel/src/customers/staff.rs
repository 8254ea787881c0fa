//! Customer records for staff, and their changes, including those of login contacts.

use std::collections::HashMap;

use async_trait::async_trait;
use diesel::dsl::count_star;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_customers::model::{CustomerChange, CustomerDraft, StaffCustomer};
use kontor_customers::ports::StaffCustomerRepository;
use kontor_customers::{CustomerReference, StaffCustomerError, StaffCustomerRefusal};
use kontor_kernel::{
    CounterpartyId, Inn, Kpp, Listing, Name, Page, ProjectId, ProjectScoped, RecordError, Stamp, StoreError, UserId,
};

use super::deletion::{DeleteError, delete_account};
use super::records::{COMPANY, CustomerRow, KindRow, ManagerRow, PERSON, Row, customer, customers};
use crate::customer_data::{READY, contacts, is_employee, remove_logins};
use crate::database::{Abort, AnyConnection, Database, found};
use crate::listing::{Source, Totals, in_order, of_project, unsearched};
use crate::read_models::search::{customers_found, index_customer};
use crate::records::{self, StoredRecord};
use crate::schema::{counterparties, dictionary_items, files, keyed, login_contacts, orders, referred, users};
use crate::statement::Statement;
use crate::{decode, unreadable};

#[derive(Queryable, Selectable)]
#[diesel(table_name = counterparties)]
struct CompanyRow {
    is_company: bool,
    name: Option<String>,
    inn: Option<String>,
    kpp: Option<String>,
    version: i64,
}

impl CompanyRow {
    fn readable(self) -> Self {
        Self {
            name: decode::readable::<Name>(self.name),
            inn: decode::readable::<Inn>(self.inn),
            kpp: decode::readable::<Kpp>(self.kpp),
            ..self
        }
    }
}

type StaffRow = (CustomerRow, KindRow, Option<ManagerRow>, Option<String>, CompanyRow);

fn record((row, kind, manager, avatar, company): StaffRow, orders: i64) -> Result<StaffCustomer, StoreError> {
    let common: Row = (row, kind, manager, avatar);
    Ok(StaffCustomer {
        record: customer(common)?,
        is_company: company.is_company,
        name: decode::optional_text(company.name.as_deref())?,
        inn: decode::optional_text(company.inn.as_deref())?,
        kpp: decode::optional_text(company.kpp.as_deref())?,
        orders: decode::count(orders)?,
        version: decode::count(company.version)?,
    })
}

/// Loads these customers, except deleted ones, in no particular order, with two statements for any number of them.
pub(super) fn load<R>(
    connection: &mut AnyConnection,
    ids: &[i64],
) -> Result<Vec<ProjectScoped<StaffCustomer>>, Abort<R>> {
    let rows = rows(connection, ids)?;
    records(connection, ids, rows)
}

fn rows(connection: &mut AnyConnection, ids: &[i64]) -> QueryResult<Vec<StaffRow>> {
    customers!()
        .filter(counterparties::id.eq_any(ids.to_vec()))
        .select((
            CustomerRow::as_select(),
            KindRow::as_select(),
            Option::<ManagerRow>::as_select(),
            files::file_key.nullable(),
            CompanyRow::as_select(),
        ))
        .load(connection)
}

fn records<R>(
    connection: &mut AnyConnection,
    ids: &[i64],
    rows: Vec<StaffRow>,
) -> Result<Vec<ProjectScoped<StaffCustomer>>, Abort<R>> {
    let orders: Vec<(i64, i64)> = orders::table
        .filter(orders::counterparty_id.eq_any(ids.to_vec()))
        .group_by(orders::counterparty_id)
        .select((orders::counterparty_id, count_star()))
        .load(connection)?;
    let orders: HashMap<i64, i64> = orders.into_iter().collect();
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let (id, project) = (row.0.id, row.0.project_id);
        found.push(records::of_project(project, record(row, orders.get(&id).copied().unwrap_or_default()))?);
    }
    Ok(found)
}

impl StoredRecord for StaffCustomer {
    const TABLE: &'static str = "counterparties";

    /// Loads a customer without texts that cannot be decoded, so that staff see the customer and can enter other texts.
    /// Lists leave the whole row out, and `kontor doctor` reports it.
    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let readable = |(customer, kind, manager, avatar, company): StaffRow| {
            (customer.readable(), kind, manager, avatar, company.readable())
        };
        let rows = rows(connection, &[id])?.into_iter().map(readable).collect();
        Ok(records(connection, &[id], rows)?.pop())
    }

    fn try_to_read(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<()>, Abort<StoreError>> {
        load(connection, ids).map(|_| Vec::new())
    }
}

/// Returns `true` if another customer logs in with the contact. A contact that is no login may be part of several
/// records.
fn is_login_of_another(
    connection: &mut AnyConnection,
    project: ProjectId,
    customer: Option<i64>,
    contact: &str,
) -> Result<bool, QueryError> {
    let others = login_contacts::table
        .filter(login_contacts::project_id.eq(project.get()))
        .filter(login_contacts::contact.eq(contact))
        .filter(login_contacts::counterparty_id.ne(customer.unwrap_or_default()));
    found!(connection, others)
}

/// A changed contact of a record.
pub(super) struct Changed<'a> {
    /// `true` for the e-mail address, `false` for the phone.
    pub is_email: bool,
    /// New value.
    pub now: Option<&'a str>,
}

/// Ends the former login contacts of a customer: bindings, codes and, if there were bindings, tokens. Contacts that
/// remain are found by the record.
fn remove_former_logins(
    connection: &mut AnyConnection,
    project: ProjectId,
    customer: i64,
    changes: &[Changed<'_>],
) -> Result<(), QueryError> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut former = contacts(connection, project.get(), customer)?;
    former.retain(|contact| {
        let is_email = contact.contains('@');
        changes.iter().any(|change| change.is_email == is_email && change.now != Some(contact.as_str()))
    });
    if former.is_empty() { Ok(()) } else { remove_logins(connection, project.get(), customer, &former) }
}

/// Source of the customer list.
const CUSTOMERS: Source = Source {
    from: "counterparties c",
    id: "c.id",
    fields: &[
        ("id", "c.id"),
        ("name", "c.sort_key"),
        ("is_company", "c.is_company"),
        ("manager_id", "c.manager_id"),
        ("created_at", "c.created_at"),
    ],
    // Searched by customer.
    search: unsearched,
};

/// Requires that changed references of the record exist and may be used.
fn require_available(
    connection: &mut AnyConnection,
    project: ProjectId,
    before: Option<&StaffCustomer>,
    draft: &CustomerDraft,
) -> Result<(), Abort<StaffCustomerError>> {
    let record = before.map(|before| &before.record);
    let id = record.map(|record| record.id.get());
    let mut unavailable = Vec::new();
    let manager = record.and_then(|record| record.manager.as_ref()).map(|manager| manager.id);
    if let Some(wanted) = draft.manager_id.filter(|wanted| Some(*wanted) != manager)
        && !is_employee(connection, project, wanted)?
    {
        unavailable.push(CustomerReference::Manager);
    }
    let phone = draft.phone_1.as_deref().filter(|new| record.and_then(|old| old.phone_1.as_deref()) != Some(*new));
    let email = draft.email.as_deref().filter(|new| record.and_then(|old| old.email.as_deref()) != Some(*new));
    for (contact, reference) in [(phone, CustomerReference::Phone), (email, CustomerReference::Email)] {
        if let Some(contact) = contact
            && is_login_of_another(connection, project, id, contact)?
        {
            unavailable.push(reference);
        }
    }
    if unavailable.is_empty() { Ok(()) } else { Err(Abort::refused(StaffCustomerRefusal::Unavailable(unavailable))) }
}

#[derive(AsChangeset, Insertable)]
#[diesel(table_name = counterparties, treat_none_as_null = true)]
struct Columns {
    is_company: bool,
    manager_id: Option<i64>,
    name: Option<String>,
    inn: Option<String>,
    kpp: Option<String>,
    first_name: Option<String>,
    last_name: Option<String>,
    middle_name: Option<String>,
    birthday: Option<chrono::NaiveDate>,
    address: Option<String>,
    phone_1: Option<String>,
    phone_2: Option<String>,
    email: Option<String>,
    updated_at: chrono::NaiveDateTime,
}

impl Columns {
    fn of(draft: &CustomerDraft, stamp: &Stamp) -> Self {
        let text = |value: Option<&str>| value.map(str::to_owned);
        Self {
            is_company: draft.is_company,
            manager_id: draft.manager_id.map(UserId::get),
            name: text(draft.name.as_deref()),
            inn: text(draft.inn.as_deref()),
            kpp: text(draft.kpp.as_deref()),
            first_name: text(draft.first_name.as_deref()),
            last_name: text(draft.last_name.as_deref()),
            middle_name: text(draft.middle_name.as_deref()),
            birthday: draft.birthday,
            address: text(draft.address.as_deref()),
            phone_1: text(draft.phone_1.as_deref()),
            phone_2: text(draft.phone_2.as_deref()),
            email: text(draft.email.as_deref()),
            updated_at: stamp.at.naive_utc(),
        }
    }
}

fn insert(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    draft: &CustomerDraft,
) -> Result<i64, Abort<StaffCustomerError>> {
    require_available(connection, stamp.project_id, None, draft)?;
    let id = diesel::insert_into(counterparties::table)
        .values((
            counterparties::project_id.eq(stamp.project_id.get()),
            Columns::of(draft, stamp),
            counterparties::created_at.eq(stamp.at.naive_utc()),
        ))
        .returning(counterparties::id)
        .get_result(connection)?;
    index_customer(connection, id)?;
    Ok(id)
}

fn update(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    before: &StaffCustomer,
    change: CustomerChange,
) -> Result<usize, Abort<StaffCustomerError>> {
    let (project, record) = (stamp.project_id, &before.record);
    let id = record.id.get();
    let draft =
        change.decide(before, stamp.at).map_err(|wrong| Abort::refused(StaffCustomerRefusal::Invalid(wrong)))?;
    require_available(connection, project, Some(before), &draft)?;
    let changed_email = draft.email != record.email;
    let written = diesel::update(keyed!(counterparties, id, project).filter(counterparties::deleted_at.is_null()))
        // Contacts entered by staff count as verified.
        .set((
            Columns::of(&draft, stamp),
            counterparties::version.eq(counterparties::version + 1),
            changed_email.then_some(counterparties::email_confirmed.eq(true)),
        ))
        .execute(connection)?;
    let phone = (draft.phone_1 != record.phone_1).then_some(Changed { is_email: false, now: draft.phone_1.as_deref() });
    let email = changed_email.then_some(Changed { is_email: true, now: draft.email.as_deref() });
    let changes: Vec<Changed<'_>> = phone.into_iter().chain(email).collect();
    remove_former_logins(connection, project, id, &changes)?;
    index_customer(connection, id)?;
    Ok(written)
}

#[async_trait]
impl StaffCustomerRepository for Database {
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<StaffCustomer>, StoreError> {
        let totals = self.memory::<Totals>();
        self.snapshot(move |connection| {
            let mut own =
                Statement::new("c.deleted_at IS NULL AND ").then(of_project("c.project_id", project, &listing));
            if let Some(text) = &listing.text {
                own = own.sql(" AND c.id").then(customers_found(connection, project, text)?);
            }
            let found = CUSTOMERS.page_of_many(connection, own, &listing, &totals)?;
            let records = unreadable::records(connection, "counterparties", &found.items, load)?;
            let records = records::within(records, project);
            let records = in_order(&found.items, records, |customer: &StaffCustomer| customer.record.id.get());
            Ok::<_, Abort<StoreError>>(found.with_items(records))
        })
        .await
    }

    async fn find(&self, id: CounterpartyId) -> Result<Option<ProjectScoped<StaffCustomer>>, StoreError> {
        records::find(self, id.get()).await
    }

    async fn insert(&self, stamp: Stamp, draft: CustomerDraft) -> Result<StaffCustomer, StaffCustomerError> {
        records::insert(self, stamp, move |connection| insert(connection, &stamp, &draft)).await
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: CounterpartyId,
        change: CustomerChange,
    ) -> Result<StaffCustomer, StaffCustomerError> {
        records::change(self, stamp, id.get(), move |connection, before| {
            update(connection, &stamp, before, change.clone())
        })
        .await
    }

    async fn delete(&self, stamp: Stamp, id: CounterpartyId) -> Result<(), StaffCustomerError> {
        self.write(move |connection| {
            delete_account(connection, &stamp, id).map_err(|stays| {
                stays.map(|stays| match stays {
                    DeleteError::NotFound => RecordError::NotFound,
                    DeleteError::PaymentOpen => RecordError::Refused(StaffCustomerRefusal::PaymentOpen),
                })
            })
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};

    use super::*;
    use crate::testing::{Kind, TestDatabase};

    async fn plan(db: &TestDatabase, sort: Sort, condition: Option<Condition>) -> String {
        CUSTOMERS
            .plan(db, Statement::new("c.deleted_at IS NULL AND c.project_id = ").value(1_i64), sort, condition)
            .await
    }

    #[tokio::test]
    async fn every_order_and_every_filter_has_its_index() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        for (sort, index) in [
            (Sort::descending("id"), "counterparties_present"),
            (Sort::ascending("name"), "counterparties_by_sort_key"),
            (Sort::descending("created_at"), "counterparties_by_moment"),
        ] {
            let plan = plan(&db, sort, None).await;
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
        }
        let number = |value| Comparison::AnyOf(vec![FilterValue::Number(value)]);
        let flag = Comparison::AnyOf(vec![FilterValue::Flag(true)]);
        for (field, comparison, index) in
            [("manager_id", number(1), "counterparties_by_manager"), ("is_company", flag, "counterparties_by_kind")]
        {
            let plan = plan(&db, Sort::descending("id"), Some(Condition { field, comparison })).await;
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
        }
        let since = Comparison::AtLeast(FilterValue::Moment(chrono::DateTime::UNIX_EPOCH));
        let since = Condition { field: "created_at", comparison: since };
        let plan = plan(&db, Sort::descending("created_at"), Some(since)).await;
        assert!(plan.contains("counterparties_by_moment") && !plan.contains("TEMP B-TREE"), "{plan}");
    }
}
