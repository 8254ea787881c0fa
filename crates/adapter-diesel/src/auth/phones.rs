//! Changes of customers' phone numbers.

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_auth::model::{NewPhoneCode, PhoneChangeAttempt, PhoneChangeOutcome, PhoneOwnership};
use kontor_auth::ports::PhoneRepository;
use kontor_kernel::history::{Author, FieldChange};
use kontor_kernel::{Contact, CounterpartyId, Phone, ProjectId, Resource, Stamp, StoreError};

use crate::customer_data::{
    bind, bound, contacts, delete_login_contacts, lock_customer, lock_customer_exclusively, owner,
};
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::histories;
use crate::read_models::search::index_customer;
use crate::schema::{counterparties, keyed, phone_change_codes};

/// Returns `true` if another customer has the phone.
fn taken(
    connection: &mut AnyConnection,
    project: ProjectId,
    customer: CounterpartyId,
    phone: &Phone,
) -> Result<bool, Abort<StoreError>> {
    let contact = Contact::Phone(phone.clone());
    let signs_in = bound(connection, project, &contact)?;
    Ok(owner(connection, project, &contact, signs_in)?.belongs_to_other(customer))
}

/// Changes the phone of the customer unless another customer has it. The caller has locked the customer's row.
fn take(connection: &mut AnyConnection, attempt: &PhoneChangeAttempt) -> Result<PhoneChangeOutcome, Abort<StoreError>> {
    let (project, customer, phone) = (attempt.project_id, attempt.customer.get(), &attempt.phone);
    if taken(connection, project, attempt.customer, phone)? {
        return Ok(PhoneChangeOutcome::Taken);
    }
    if !bind(connection, project, phone, customer)? && taken(connection, project, attempt.customer, phone)? {
        return Ok(PhoneChangeOutcome::Taken);
    }
    let before: Option<String> =
        counterparties::table.find(customer).select(counterparties::phone_1).first(connection)?;
    diesel::update(keyed!(counterparties, customer, project))
        .set((
            counterparties::phone_1.eq(phone.as_str()),
            counterparties::version.eq(counterparties::version + 1),
            counterparties::updated_at.eq(attempt.at.naive_utc()),
        ))
        .execute(connection)?;
    index_customer(connection, customer)?;
    let own = Stamp { project_id: project, author: Author::Customer(attempt.customer), at: attempt.at };
    let change = FieldChange { field: "phone_1".to_owned(), old: before, new: Some(phone.to_string()) };
    histories::changed_many(connection, &own, Resource::Counterparties, &[(customer, vec![change])])?;
    let mut former = contacts(connection, project.get(), customer)?;
    former.retain(|contact| !contact.contains('@') && contact != phone.as_str());
    delete_login_contacts(connection, project.get(), &former)?;
    Ok(PhoneChangeOutcome::Changed)
}

#[async_trait]
impl PhoneRepository for Database {
    async fn phone_ownership(
        &self,
        project: ProjectId,
        customer: CounterpartyId,
        phone: &Phone,
    ) -> Result<PhoneOwnership, StoreError> {
        let phone = phone.clone();
        self.read(move |connection| {
            let own: Option<Option<String>> = counterparties::table
                .find(customer.get())
                .select(counterparties::phone_1)
                .first(connection)
                .optional()?;
            if own.flatten().as_deref() == Some(phone.as_str()) {
                return Ok::<_, Abort<StoreError>>(PhoneOwnership::Own);
            }
            let taken = taken(connection, project, customer, &phone)?;
            Ok(if taken { PhoneOwnership::Taken } else { PhoneOwnership::Free })
        })
        .await
    }

    async fn store_code(&self, code: NewPhoneCode) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let customer = code.customer.get();
            if !lock_customer(connection, customer)? {
                return Ok::<_, Abort<StoreError>>(false);
            }
            let state = (
                phone_change_codes::project_id.eq(code.project_id.get()),
                phone_change_codes::phone.eq(code.phone.as_str()),
                phone_change_codes::fingerprint.eq(&code.code.fingerprint),
                phone_change_codes::attempts_left.eq(i32::from(code.code.attempts)),
                phone_change_codes::expires_at.eq(code.code.expires_at.naive_utc()),
                phone_change_codes::consumed_at.eq(None::<chrono::NaiveDateTime>),
                phone_change_codes::created_at.eq(code.code.created_at.naive_utc()),
            );
            on_each!(connection, concrete => {
                diesel::insert_into(phone_change_codes::table)
                    .values((phone_change_codes::counterparty_id.eq(customer), state))
                    .on_conflict((phone_change_codes::counterparty_id, phone_change_codes::project_id))
                    .do_update()
                    .set(state)
                    .execute(concrete)
            })?;
            Ok(true)
        })
        .await
    }

    async fn change_phone(&self, attempt: PhoneChangeAttempt) -> Result<PhoneChangeOutcome, StoreError> {
        self.write(move |connection| {
            if !lock_customer_exclusively(connection, attempt.customer.get())? {
                return Ok::<_, Abort<StoreError>>(PhoneChangeOutcome::CustomerDeleted);
            }
            let now = attempt.at.naive_utc();
            let live = phone_change_codes::table
                .find(attempt.customer.get())
                .filter(phone_change_codes::project_id.eq(attempt.project_id.get()))
                .filter(phone_change_codes::phone.eq(attempt.phone.as_str()))
                .filter(phone_change_codes::consumed_at.is_null())
                .filter(phone_change_codes::attempts_left.gt(0))
                .filter(phone_change_codes::expires_at.gt(now));
            // The fingerprint is keyed, so comparing it in the statement reveals nothing about the code.
            let used = diesel::update(live.filter(phone_change_codes::fingerprint.eq(&attempt.fingerprint)))
                .set(phone_change_codes::consumed_at.eq(now))
                .execute(connection)?;
            if used == 1 {
                return take(connection, &attempt);
            }
            let counted = diesel::update(live)
                .set(phone_change_codes::attempts_left.eq(phone_change_codes::attempts_left - 1))
                .execute(connection)?;
            Ok(if counted == 1 { PhoneChangeOutcome::WrongCode } else { PhoneChangeOutcome::NoValidCode })
        })
        .await
    }
}
