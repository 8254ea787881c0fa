//! Safeguards against double charges after a restore from a backup.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{StoreError, SubscriptionId};
use kontor_payments::model::{Charge, GatewayPayment, GatewayStatus, ProviderId, Renewal};
use ring::digest;
use uuid::Uuid;

use crate::database::{Abort, AnyConnection, Database, GenerationFile};
use crate::decode;
use crate::statement::{Statement, Value, by_place};

by_place! {
    struct InstallationRow {
        name: String,
        generation: i64,
        held_since: Option<NaiveDateTime>,
    }
}

fn installation(connection: &mut AnyConnection) -> QueryResult<InstallationRow> {
    Statement::new("SELECT name, generation, held_since FROM installation WHERE id = 1").row(connection)
}

/// Returns the key of an attempt: the same for every call. The creation time of the subscription distinguishes it from
/// another subscription that gets the same id after a restore.
fn key(renewal: Renewal, made_at: NaiveDateTime) -> Uuid {
    let Renewal { installation, subscription, period, number } = renewal;
    let made_at = made_at.and_utc().timestamp_micros();
    let text = format!("{installation} {subscription} {made_at} {period} {number}");
    let hash = digest::digest(&digest::SHA256, text.as_bytes());
    let bytes = hash.as_ref().first_chunk().copied().unwrap_or_default();
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// Attempt to renew a period, with its marks at the acquirer.
pub(crate) struct MarkedAttempt {
    /// Renewal mark.
    pub renewal: Renewal,
    /// Idempotency key.
    pub key: Uuid,
    /// Payment that the acquirer has since before the restore.
    pub payment: Option<ProviderId>,
}

by_place! {
    struct KnownRow {
        payment: String,
        number: i64,
        key: String,
        is_canceled: bool,
    }
}

/// Returns the mark and the key of an attempt. A payment that the acquirer already has for the period is taken over.
/// Payments that succeeded or may still succeed take precedence over one that failed under the same key.
pub(crate) fn mark(
    connection: &mut AnyConnection,
    subscription: SubscriptionId,
    period: u32,
    number: u32,
) -> Result<MarkedAttempt, Abort<StoreError>> {
    let installation: Uuid = decode::text(&installation(connection)?.name)?;
    let made_at = Statement::new("SELECT created_at FROM subscriptions WHERE id = ")
        .value(subscription.get())
        .scalar(connection)?;
    let renewal = Renewal { installation, subscription, period, number };
    let own = key(renewal, made_at);
    let known: Vec<KnownRow> = Statement::new(
        "SELECT k.provider_payment_id, k.number, k.idempotence_key, k.is_canceled FROM known_renewals k \
         WHERE k.subscription_id = ",
    )
    .value(subscription.get())
    .sql(" AND k.period = ")
    .value(period)
    .sql(
        " AND NOT EXISTS (SELECT 1 FROM charges c WHERE c.provider_payment_id = k.provider_payment_id) \
         ORDER BY k.is_canceled, k.number",
    )
    .rows(connection)?;
    for row in known {
        let of_row = Renewal { number: u32::try_from(row.number).map_err(StoreError::corrupt)?, ..renewal };
        let its_key: Uuid = decode::text(&row.key)?;
        let is_same = key(of_row, made_at) == its_key;
        if is_same && (!row.is_canceled || its_key == own) {
            let payment = ProviderId::parse(&row.payment).map_err(StoreError::corrupt)?;
            return Ok(MarkedAttempt { renewal: of_row, key: its_key, payment: Some(payment) });
        }
    }
    Ok(MarkedAttempt { renewal, key: own, payment: None })
}

/// Counts a transaction that is to charge a subscription. Returns `false` if this database was restored and must not
/// charge yet. The row is locked until the commit: nothing else is locked after it.
pub(crate) fn count_charge(connection: &mut AnyConnection) -> QueryResult<bool> {
    let counted =
        "UPDATE installation SET generation = generation + 1 WHERE id = 1 AND held_since IS NULL RETURNING id";
    Statement::new(counted).finds(connection)
}

/// Assigns a payment that the acquirer already has to a charge.
pub(crate) fn assign_payment(connection: &mut AnyConnection, charge: &Charge, payment: &ProviderId) -> QueryResult<()> {
    Statement::new("UPDATE charges SET state = 'pending', provider_payment_id = ")
        .value(payment.as_str())
        .sql(" WHERE id = ")
        .value(charge.id.get())
        .sql(" AND project_id = ")
        .value(charge.project_id.get())
        .run(connection)
        .map(|_| ())
}

/// Result of a comparison with the acquirer's payments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaymentComparison {
    /// Payments that this database contains.
    pub known: u64,
    /// Unknown renewals of this installation; the next attempts for their periods take them over.
    pub renewals: u64,
    /// Payments for purposes that this database does not contain.
    pub unexpected: Vec<GatewayPayment>,
}

fn compare(
    connection: &mut AnyConnection,
    payments: Vec<GatewayPayment>,
    at: DateTime<Utc>,
) -> Result<PaymentComparison, Abort<StoreError>> {
    let own: Uuid = decode::text(&installation(connection)?.name)?;
    let mut compared = PaymentComparison::default();
    for payment in payments {
        let known = Statement::new("SELECT id FROM charges WHERE provider_payment_id = ")
            .value(payment.id.as_str())
            .sql(" OR idempotence_key = ")
            .value(payment.key.map(|key| key.to_string()).unwrap_or_default())
            .sql(" LIMIT 1");
        if known.finds(connection)? {
            compared.known += 1;
            continue;
        }
        let is_canceled = payment.status == GatewayStatus::Canceled;
        match (payment.renewal, payment.key) {
            (Some(renewal), Some(key)) if renewal.installation == own => {
                let row: [Value; 7] = [
                    payment.id.as_str().into(),
                    renewal.subscription.get().into(),
                    i64::from(renewal.period).into(),
                    i64::from(renewal.number).into(),
                    key.to_string().into(),
                    is_canceled.into(),
                    at.naive_utc().into(),
                ];
                Statement::new(
                    "INSERT INTO known_renewals (provider_payment_id, subscription_id, period, number, idempotence_key, \
                     is_canceled, created_at) VALUES ",
                )
                .tuple(row)
                .sql(" ON CONFLICT (provider_payment_id) DO UPDATE SET is_canceled = excluded.is_canceled")
                .run(connection)?;
                compared.renewals += 1;
            }
            _ if is_canceled => {}
            _ => compared.unexpected.push(payment),
        }
    }
    Ok(compared)
}

impl Database {
    /// Compares the generation with the one stored in a folder outside the database. If the stored one is ahead, this
    /// database was restored from a backup. Returns `true` while charges are blocked.
    pub async fn check_generation(&self, folder: std::path::PathBuf, at: DateTime<Utc>) -> Result<bool, StoreError> {
        let row = self.read(|connection| Ok::<_, Abort<StoreError>>(installation(connection)?)).await?;
        let file = GenerationFile::open(folder, &row.name).await?;
        let is_behind = file.known() > row.generation;
        self.watch_generation(file);
        if is_behind && row.held_since.is_none() {
            self.write(move |connection| {
                Statement::new("UPDATE installation SET held_since = ")
                    .value(at.naive_utc())
                    .sql(" WHERE id = 1 AND held_since IS NULL")
                    .run(connection)?;
                Ok::<_, Abort<StoreError>>(())
            })
            .await?;
        }
        Ok(is_behind || row.held_since.is_some())
    }

    /// Returns `true` if this database was restored and may not charge yet.
    pub async fn is_held(&self) -> Result<bool, StoreError> {
        self.read(|connection| Ok::<_, Abort<StoreError>>(installation(connection)?.held_since.is_some())).await
    }

    /// Stores the current generation outside the database. Called after the commit that counted a charge and before the
    /// request to the acquirer.
    pub(crate) async fn store_generation(&self) -> Result<(), StoreError> {
        let Some(file) = self.generation_file() else { return Ok(()) };
        let row = self.read(|connection| Ok::<_, Abort<StoreError>>(installation(connection)?)).await?;
        file.raise(row.generation).await
    }

    /// Compares the acquirer's payments with the stored charges. Unknown renewals are recorded.
    pub async fn compare_payments(
        &self,
        payments: Vec<GatewayPayment>,
        at: DateTime<Utc>,
    ) -> Result<PaymentComparison, StoreError> {
        self.write(move |connection| compare(connection, payments.clone(), at)).await
    }

    /// Allows charges again after a comparison with the acquirer. Returns `false` if they were not blocked.
    pub async fn allow_charges(&self) -> Result<bool, StoreError> {
        let known = self.generation_file().map_or(0, GenerationFile::known);
        let released = self.write(move |connection| {
            let ahead = "UPDATE installation SET generation = CASE WHEN generation < ";
            let release = Statement::new(ahead)
                .value(known)
                .sql(" THEN ")
                .value(known + 1)
                .sql(" ELSE generation + 1 END, held_since = NULL WHERE id = 1 AND held_since IS NOT NULL")
                .run(connection)?;
            Ok::<_, Abort<StoreError>>(release == 1)
        });
        let released = released.await?;
        self.store_generation().await?;
        Ok(released)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_has_one_key_whenever_it_is_made() {
        let renewal =
            Renewal { installation: Uuid::nil(), subscription: SubscriptionId::new(7).unwrap(), period: 3, number: 1 };
        let made_at = DateTime::UNIX_EPOCH.naive_utc();
        assert_eq!(key(renewal, made_at), key(renewal, made_at));
        let others = [
            key(Renewal { installation: Uuid::max(), ..renewal }, made_at),
            key(Renewal { subscription: SubscriptionId::new(8).unwrap(), ..renewal }, made_at),
            key(Renewal { period: 4, ..renewal }, made_at),
            key(Renewal { number: 2, ..renewal }, made_at),
            key(renewal, made_at + chrono::TimeDelta::microseconds(1)),
        ];
        assert!(others.iter().all(|other| *other != key(renewal, made_at)));
    }
}
