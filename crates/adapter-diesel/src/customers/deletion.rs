//! Deletion of a customer: the record stays for its orders, without personal data.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_customers::model::{StaffCustomer, without_personal_values};
use kontor_kernel::history::Audited as _;
use kontor_kernel::{CounterpartyId, Stamp, Word};
use kontor_payments::model::ChargeState;

use super::{notifications, parts};
use crate::customer_data::{
    delete_logins, delete_receipts, delete_remarks, delete_ticket_codes, end_subscriptions, lock_customer_exclusively,
};
use crate::database::{Abort, AnyConnection, found};
use crate::histories;
use crate::read_models::search::index_customer;
use crate::records::StoredRecord as _;
use crate::schema::{charges, counterparties, favourites, saved_payment_methods, search_requests};
use crate::statement::Statement;

/// Reason why a customer is not deleted.
pub(super) enum DeleteError {
    /// The customer does not exist or was deleted before.
    NotFound,
    /// A payment may still take place.
    PaymentOpen,
}

/// Deletes and anonymizes a customer. The author of the stamp is the customer or an employee.
pub(super) fn delete_account(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    id: CounterpartyId,
) -> Result<(), Abort<DeleteError>> {
    let (project, customer, at) = (stamp.project_id.get(), id.get(), stamp.at.naive_utc());
    // Locked, so that no concurrent change adds history entries about the customer.
    lock_customer_exclusively(connection, customer)?;
    let before = StaffCustomer::load(connection, customer)?.and_then(|found| found.within(stamp.project_id));
    let before = before.ok_or(Abort::Refused(DeleteError::NotFound))?;
    // A company keeps its name and numbers, which are not personal.
    let emptied = (
        counterparties::first_name.eq(None::<String>),
        counterparties::last_name.eq(None::<String>),
        counterparties::middle_name.eq(None::<String>),
        counterparties::birthday.eq(None::<chrono::NaiveDate>),
        counterparties::address.eq(None::<String>),
        counterparties::phone_1.eq(None::<String>),
        counterparties::phone_2.eq(None::<String>),
        counterparties::email.eq(None::<String>),
        counterparties::avatar_id.eq(None::<i64>),
        counterparties::verified_at.eq(None::<NaiveDateTime>),
        counterparties::deleted_at.eq(at),
    );
    // First statement: from here on nothing new is written for the customer, so the checks below stay valid.
    let left = diesel::update(
        counterparties::table
            .filter(counterparties::id.eq(customer))
            .filter(counterparties::project_id.eq(project))
            .filter(counterparties::deleted_at.is_null()),
    )
    .set((emptied, counterparties::version.eq(counterparties::version + 1), counterparties::updated_at.eq(at)))
    .execute(connection)?;
    if left == 0 {
        return Err(Abort::Refused(DeleteError::NotFound));
    }
    if has_open_payment(connection, customer)? {
        return Err(Abort::Refused(DeleteError::PaymentOpen));
    }
    diesel::delete(saved_payment_methods::table.filter(saved_payment_methods::counterparty_id.eq(customer)))
        .execute(connection)?;
    end_subscriptions(connection, customer, at)?;
    delete_receipts(connection, customer)?;
    delete_ticket_codes(connection, customer)?;
    delete_remarks(connection, customer, at)?;
    delete_favourites_and_searches(connection, project, customer)?;
    parts::delete_all(connection, customer)?;
    delete_files(connection, customer, at)?;
    notifications::delete_all(connection, customer)?;
    if !before.is_company {
        let numbers = (
            counterparties::name.eq(None::<String>),
            counterparties::inn.eq(None::<String>),
            counterparties::kpp.eq(None::<String>),
            counterparties::version.eq(counterparties::version + 1),
            counterparties::updated_at.eq(at),
        );
        diesel::update(counterparties::table.find(customer)).set(numbers).execute(connection)?;
    }
    index_customer(connection, customer)?;
    let is_company = before.is_company;
    histories::rewrite(connection, stamp.project_id, StaffCustomer::RESOURCE, customer, |changes| {
        without_personal_values(changes, is_company)
    })?;
    histories::deleted(connection, stamp, &before.anonymous())?;
    Ok(delete_logins(connection, project, customer)?)
}

/// Deletes the files of the customer's orders. Their contents are swept from this time on.
fn delete_files(connection: &mut AnyConnection, customer: i64, at: NaiveDateTime) -> Result<(), QueryError> {
    Statement::new("UPDATE files SET state = 'deleted', sweep_at = ")
        .value(at)
        .sql(" WHERE state <> 'deleted' AND order_id IN (SELECT id FROM orders WHERE counterparty_id = ")
        .value(customer)
        .sql(")")
        .run(connection)?;
    Ok(())
}

/// Deletes the customer's favourites and searches.
fn delete_favourites_and_searches(
    connection: &mut AnyConnection,
    project: i64,
    customer: i64,
) -> Result<(), QueryError> {
    let kept =
        favourites::table.filter(favourites::project_id.eq(project)).filter(favourites::counterparty_id.eq(customer));
    diesel::delete(kept).execute(connection)?;
    let searched = search_requests::table
        .filter(search_requests::project_id.eq(project))
        .filter(search_requests::counterparty_id.eq(customer));
    diesel::delete(searched).execute(connection)?;
    Ok(())
}

/// Returns `true` if money may still be taken from the customer.
fn has_open_payment(connection: &mut AnyConnection, customer: i64) -> Result<bool, QueryError> {
    let open = charges::table
        .filter(charges::counterparty_id.eq(customer))
        .filter(charges::state.eq_any(ChargeState::OPEN.map(ChargeState::word)));
    found!(connection, open)
}
