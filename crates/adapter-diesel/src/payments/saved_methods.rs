//! Saved payment methods, and the verifications that save them.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{ApplicationId, CustomerScope, SavedMethodId, StoreError, VerificationId, Word};
use kontor_payments::model::{
    Charge, ChargeState, GatewayMethod, MethodReference, NewCharge, PaymentMethod, ProviderId, SavedMethod,
};
use kontor_payments::ports::{SavedMethodStore, VerificationStore, VerificationStored};
use kontor_payments::verification::{NewVerification, Verification};

use super::charges::{ChargeRow, insert};
use crate::customer_data::lock_customer;
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::schema::{charges, keyed, saved_payment_methods as table, verifications};
use crate::statement::Statement;
use crate::{decode, unreadable};

#[derive(Queryable, Selectable)]
#[diesel(table_name = table)]
struct Row {
    id: i64,
    application_id: i64,
    counterparty_id: i64,
    method: String,
    card_type: Option<String>,
    card_last_4: Option<String>,
    title: Option<String>,
    is_active: bool,
    created_at: NaiveDateTime,
}

impl TryFrom<Row> for SavedMethod {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            counterparty_id: decode::id(row.counterparty_id)?,
            application_id: decode::id(row.application_id)?,
            method: PaymentMethod::parse(&row.method).map_err(StoreError::corrupt)?,
            card_type: row.card_type,
            card_last_4: row.card_last_4,
            title: row.title,
            is_active: row.is_active,
            created_at: decode::moment(row.created_at),
        })
    }
}

/// Saves the method of a charge. A saved method keeps its owner. A charge without an application saves none, because no
/// application could show it.
pub(super) fn save(
    connection: &mut AnyConnection,
    charge: &Charge,
    method: &GatewayMethod,
    at: NaiveDateTime,
) -> QueryResult<()> {
    let Some(application) = charge.application_id else { return Ok(()) };
    let values = (
        table::project_id.eq(charge.project_id.get()),
        table::application_id.eq(application.get()),
        table::counterparty_id.eq(charge.counterparty_id.get()),
        table::charge_id.eq(charge.id.get()),
        table::provider_method_id.eq(method.provider_id.as_str()),
        table::method.eq(method.method.word()),
        table::card_type.eq(method.card_type.as_deref()),
        table::card_last_4.eq(method.card_last_4.as_deref()),
        table::title.eq(method.title.as_deref()),
        table::is_active.eq(true),
        table::created_at.eq(at),
        table::updated_at.eq(at),
    );
    on_each!(connection, concrete => {
        diesel::insert_into(table::table).values(values).on_conflict_do_nothing().execute(concrete)
    })?;
    Ok(())
}

#[diesel::dsl::auto_type]
fn of_customer(customer: CustomerScope) -> _ {
    let counterparty: i64 = customer.counterparty_id.get();
    let application: i64 = customer.app.application_id.get();
    let project: i64 = customer.app.project_id.get();
    table::table
        .filter(table::counterparty_id.eq(counterparty))
        .filter(table::application_id.eq(application))
        .filter(table::project_id.eq(project))
}

/// Locks a method against deactivation until the transaction ends. Returns `false` if it belongs to another customer or
/// is not active.
pub(super) fn lock_method(
    connection: &mut AnyConnection,
    new: &NewCharge,
    method: &MethodReference,
) -> QueryResult<bool> {
    let own = Statement::new("SELECT id FROM saved_payment_methods WHERE is_active = TRUE AND id = ")
        .value(method.id.get())
        .sql(" AND counterparty_id = ")
        .value(new.counterparty_id.get())
        .sql(" AND provider_method_id = ")
        .value(method.provider_id.to_string());
    own.locked(connection, " FOR SHARE").finds(connection)
}

/// Returns the acquirer's identifier of an active method of the customer, and its kind. The caller has locked the
/// customer, which prevents a deactivation.
pub(crate) fn chargeable_method(
    connection: &mut AnyConnection,
    customer: i64,
    id: SavedMethodId,
) -> Result<Option<(MethodReference, ApplicationId, PaymentMethod)>, Abort<StoreError>> {
    let row: Option<(String, i64, String)> = table::table
        .filter(table::id.eq(id.get()))
        .filter(table::counterparty_id.eq(customer))
        .filter(table::is_active.eq(true))
        .select((table::provider_method_id, table::application_id, table::method))
        .first(connection)
        .optional()?;
    let Some((provider, application, method)) = row else { return Ok(None) };
    let provider_id = ProviderId::parse(&provider).map_err(StoreError::corrupt)?;
    let method = PaymentMethod::parse(&method).map_err(StoreError::corrupt)?;
    Ok(Some((MethodReference { id, provider_id }, decode::id(application)?, method)))
}

/// Returns the id of the customer's active method with this identifier of the acquirer.
pub(crate) fn find_saved(
    connection: &mut AnyConnection,
    customer: i64,
    provider: &ProviderId,
) -> QueryResult<Option<i64>> {
    table::table
        .filter(table::provider_method_id.eq(provider.as_str()))
        .filter(table::counterparty_id.eq(customer))
        .filter(table::is_active.eq(true))
        .select(table::id)
        .first(connection)
        .optional()
}

/// Deactivates a method of the customer in the application. Returns `true` if it was active; `None` if the customer has
/// no such method.
pub(crate) fn deactivate(
    connection: &mut AnyConnection,
    customer: CustomerScope,
    id: SavedMethodId,
    at: NaiveDateTime,
) -> QueryResult<Option<bool>> {
    let own = of_customer(customer).filter(table::id.eq(id.get()));
    let active = own.filter(table::is_active.eq(true));
    let ended =
        diesel::update(active).set((table::is_active.eq(false), table::updated_at.eq(at))).execute(connection)?;
    if ended == 1 {
        return Ok(Some(true));
    }
    let known: Option<i64> = own.select(table::id).first(connection).optional()?;
    Ok(known.map(|_| false))
}

#[async_trait]
impl SavedMethodStore for Database {
    async fn list(&self, customer: CustomerScope) -> Result<Vec<SavedMethod>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<Row> = of_customer(customer)
                .filter(table::is_active.eq(true))
                .order(table::id.desc())
                .select(Row::as_select())
                .load(connection)?;
            Ok::<_, Abort<StoreError>>(unreadable::rows(
                "saved_payment_methods",
                rows,
                |row| row.id,
                SavedMethod::try_from,
            )?)
        })
        .await
    }

    async fn reference(
        &self,
        customer: CustomerScope,
        id: SavedMethodId,
    ) -> Result<Option<MethodReference>, StoreError> {
        self.read(move |connection| {
            let provider: Option<String> = of_customer(customer)
                .filter(table::id.eq(id.get()))
                .filter(table::is_active.eq(true))
                .select(table::provider_method_id)
                .first(connection)
                .optional()?;
            let provider = provider.as_deref().map(ProviderId::parse).transpose().map_err(StoreError::corrupt)?;
            Ok::<_, Abort<StoreError>>(provider.map(|provider_id| MethodReference { id, provider_id }))
        })
        .await
    }

    async fn deactivate(
        &self,
        customer: CustomerScope,
        id: SavedMethodId,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let was_active = deactivate(connection, customer, id, at.naive_utc())?;
            Ok::<_, Abort<StoreError>>(was_active.is_some())
        })
        .await
    }
}

#[diesel::dsl::auto_type]
fn with_charges() -> _ {
    verifications::table.inner_join(
        charges::table.on(charges::purpose_id
            .eq(verifications::id)
            .and(charges::project_id.eq(verifications::project_id))
            .and(charges::purpose.eq("verification"))),
    )
}

type VerificationRow = (i64, NaiveDateTime, ChargeRow);

fn read((id, expires_at, charge): VerificationRow) -> Result<Verification, StoreError> {
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
    let row: Option<VerificationRow> = with_charges()
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
    diesel::delete(keyed!(verifications, id, new.project_id)).execute(connection)?;
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
            let row: Option<VerificationRow> = with_charges()
                .filter(verifications::id.eq(id.get()))
                .select((verifications::id, verifications::expires_at, ChargeRow::as_select()))
                .first(connection)
                .optional()?;
            Ok::<_, Abort<StoreError>>(row.map(read).transpose()?)
        })
        .await
    }
}
