//! Verifications of customers, each with its charge.

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{StoreError, VerificationId, Word};
use kontor_payments::model::{Charge, ChargeState};
use kontor_payments::ports::{VerificationStore, VerificationStored};
use kontor_payments::verification::{NewVerification, Verification};

use super::charge_rows::{ChargeRow, insert};
use crate::customer_data::lock_customer;
use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::schema::{charges, verifications};

#[diesel::dsl::auto_type]
fn with_charges() -> _ {
    verifications::table.inner_join(
        charges::table.on(charges::purpose_id.eq(verifications::id).and(charges::purpose.eq("verification"))),
    )
}

type Row = (i64, NaiveDateTime, ChargeRow);

fn read((id, expires_at, charge): Row) -> Result<Verification, StoreError> {
    Ok(Verification { id: decode::id(id)?, charge: Charge::try_from(charge)?, expires_at: decode::moment(expires_at) })
}

/// Returns the open verification of a customer, else the last valid one.
fn present(
    connection: &mut AnyConnection,
    customer: i64,
    still_counts_since: NaiveDateTime,
) -> Result<Option<Verification>, Abort<StoreError>> {
    let open = charges::state.eq_any(ChargeState::OPEN.map(ChargeState::word));
    let succeeded = charges::state.eq(ChargeState::Succeeded.word());
    let counts = succeeded.and(charges::settled_at.ge(still_counts_since).assume_not_null());
    let row: Option<Row> = with_charges()
        .filter(charges::counterparty_id.eq(customer))
        .filter(open.or(counts))
        .order(verifications::id.desc())
        .select((verifications::id, verifications::expires_at, ChargeRow::as_select()))
        .first(connection)
        .optional()?;
    Ok(row.map(read).transpose()?)
}

fn start(connection: &mut AnyConnection, new: &NewVerification) -> Result<VerificationStored, Abort<StoreError>> {
    let (customer, since) = (new.counterparty_id.get(), new.still_counts_since.naive_utc());
    if !lock_customer(connection, customer)? {
        return Ok(VerificationStored::CustomerDeleted);
    }
    if let Some(known) = present(connection, customer, since)? {
        return Ok(VerificationStored::Existing(known));
    }
    let id: i64 = diesel::insert_into(verifications::table)
        .values((
            verifications::project_id.eq(new.project_id.get()),
            verifications::counterparty_id.eq(customer),
            verifications::expires_at.eq(new.expires_at().naive_utc()),
            verifications::created_at.eq(new.at.naive_utc()),
        ))
        .returning(verifications::id)
        .get_result(connection)?;
    let number: VerificationId = decode::id(id)?;
    if let Some(charge) = insert(connection, &new.charge(number))? {
        return Ok(VerificationStored::New(Verification { id: number, charge, expires_at: new.expires_at() }));
    }
    // The customer got an open verification in the meantime.
    diesel::delete(verifications::table.find(id)).execute(connection)?;
    let known = present(connection, customer, since)?;
    known.map(VerificationStored::Existing).ok_or_else(|| {
        StoreError::Unavailable("a verification was opened and closed by concurrent requests; retry".to_owned()).into()
    })
}

#[async_trait]
impl VerificationStore for Database {
    async fn start(&self, new: NewVerification) -> Result<VerificationStored, StoreError> {
        self.write(move |connection| start(connection, &new)).await
    }

    async fn find(&self, id: VerificationId) -> Result<Option<Verification>, StoreError> {
        self.read(move |connection| {
            let row: Option<Row> = with_charges()
                .filter(verifications::id.eq(id.get()))
                .select((verifications::id, verifications::expires_at, ChargeRow::as_select()))
                .first(connection)
                .optional()?;
            Ok::<_, Abort<StoreError>>(row.map(read).transpose()?)
        })
        .await
    }
}
