//! Changes of customer records by staff.

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_customers::model::{CustomerChange, CustomerDraft, StaffCustomer};
use kontor_customers::ports::StaffCustomerRepository;
use kontor_customers::{CustomerReference, StaffCustomerError, StaffCustomerRefusal};
use kontor_kernel::{CounterpartyId, Listing, Page, ProjectId, ProjectScoped, RecordError, Stamp, StoreError, UserId};

use super::deletion::{DeleteError, delete_account};
use super::sign_in::{Changed, is_login_of_another, remove_former_logins};
use super::staff_records::load;
use crate::customer_data::is_employee;
use crate::database::{Abort, AnyConnection, Database};
use crate::listing::{Source, Totals, in_order, of_project, unsearched};
use crate::read_models::search::{customers_found, index_customer};
use crate::records;
use crate::schema::counterparties;
use crate::statement::Statement;
use crate::unreadable;

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
    let written = diesel::update(counterparties::table.find(id).filter(counterparties::deleted_at.is_null()))
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
    use super::*;
    use crate::testing::{Kind, TestDatabase};
    use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};

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
