//! Corrects the differences that the doctor finds.

use chrono::{DateTime, NaiveDateTime, Utc};
use kontor_kernel::{ProjectId, StoreError};

use super::next;
use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::read_models::{offer_counts, offers, search};
use crate::statement::Statement;
use crate::stock;

/// Counts of corrected records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Corrected {
    /// Stock levels that differed; where the ledger was wrong, a movement corrects it.
    pub inventories: u64,
    /// Discounts whose uses were recounted.
    pub discounts: u64,
    /// Items whose search texts were rewritten.
    pub words: u64,
    /// Items whose offers changed.
    pub items: u64,
    /// Offer counts.
    pub counts: u64,
}

/// Corrects some records. Returns how many differed.
type CorrectRecords = fn(&mut AnyConnection, &[i64], NaiveDateTime) -> Result<usize, Abort<StoreError>>;

/// Counter for the records of a correction.
type Tally = fn(&mut Corrected) -> &mut u64;

impl Database {
    /// Corrects what [`Database::examine`] compares, in one project or in all, a few records per transaction. The
    /// quantity of a stock level is taken as true, and a movement corrects the ledger. The reserved quantity is
    /// recomputed from order lines. Two differences remain: more units reserved than in stock, and more uses of a
    /// discount than allowed.
    pub async fn correct(&self, project: Option<ProjectId>, at: DateTime<Utc>) -> Result<Corrected, StoreError> {
        let mut corrected = Corrected { inventories: self.correct_ledger(project, at).await?, ..Corrected::default() };
        // Offers depend on stock, and counts on offers, so the order matters.
        let steps: [(&'static str, CorrectRecords, Tally); 4] = [
            ("discounts", discounts, |corrected| &mut corrected.discounts),
            ("nomenclatures", words, |corrected| &mut corrected.words),
            ("nomenclatures", shown, |corrected| &mut corrected.items),
            ("applications", counts, |corrected| &mut corrected.counts),
        ];
        for (table, correct, count) in steps {
            *count(&mut corrected) += self.correct_records(project, table, at, correct).await?;
        }
        Ok(corrected)
    }

    /// Corrects the stock ledger by one movement per stock level that differs, for example after records were loaded by
    /// other means than this service. Returns how many stock levels differed.
    pub async fn correct_ledger(&self, project: Option<ProjectId>, at: DateTime<Utc>) -> Result<u64, StoreError> {
        self.correct_records(project, "inventories", at, |connection, ids, at| Ok(stock::correct(connection, ids, at)?))
            .await
    }

    async fn correct_records(
        &self,
        project: Option<ProjectId>,
        table: &'static str,
        at: DateTime<Utc>,
        correct: CorrectRecords,
    ) -> Result<u64, StoreError> {
        let project = project.map(ProjectId::get);
        self.walk(move |connection, last| {
            let ids = held(connection, next("t.id", table, project, last))?;
            let count = if ids.is_empty() { 0 } else { correct(connection, &ids, at.naive_utc())? };
            if count > 0 {
                connection.invalidate_everything();
            } else {
                connection.declare_unchanged(Topic::Storefront);
            }
            Ok((ids.last().copied(), u64::try_from(count).unwrap_or(u64::MAX)))
        })
        .await
    }
}

/// Returns the numbers of these records, and locks them until the end of the transaction.
fn held(connection: &mut AnyConnection, records: Statement) -> Result<Vec<i64>, Abort<StoreError>> {
    Ok(records.locked(connection, " FOR NO KEY UPDATE").scalars(connection)?)
}

fn discounts(connection: &mut AnyConnection, ids: &[i64], _: NaiveDateTime) -> Result<usize, Abort<StoreError>> {
    let corrected = Statement::new(
        "UPDATE discounts SET used_count = c.uses, used_amount = c.amount FROM (SELECT d.id AS discount, \
         count(u.order_id) AS uses, CAST(COALESCE(sum(o.promo_discount), 0) AS BIGINT) AS amount FROM discounts d \
         LEFT JOIN discount_usages u ON u.discount_id = d.id LEFT JOIN orders o ON o.id = u.order_id WHERE d.id",
    )
    .among(ids)
    .sql(
        " GROUP BY d.id) AS c WHERE discounts.id = c.discount \
         AND (discounts.used_count <> c.uses OR discounts.used_amount <> c.amount) \
         AND (discounts.usage_limit IS NULL OR c.uses <= discounts.usage_limit)",
    );
    Ok(corrected.once().run(connection)?)
}

fn words(connection: &mut AnyConnection, ids: &[i64], _: NaiveDateTime) -> Result<usize, Abort<StoreError>> {
    let lost: Vec<i64> = search::outdated_items(connection, ids)?.into_iter().map(|(_, item)| item).collect();
    search::refill::<StoreError>(connection, &lost)?;
    Ok(lost.len())
}

fn shown(connection: &mut AnyConnection, ids: &[i64], _: NaiveDateTime) -> Result<usize, Abort<StoreError>> {
    Ok(usize::try_from(offers::refresh_availability(connection, ids)?).unwrap_or(usize::MAX))
}

fn counts(connection: &mut AnyConnection, ids: &[i64], _: NaiveDateTime) -> Result<usize, Abort<StoreError>> {
    Ok(offer_counts::correct(connection, ids)?)
}
