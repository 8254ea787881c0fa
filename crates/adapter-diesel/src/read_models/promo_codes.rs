//! Promo codes that were stored while case mattered.

use diesel::sql_types::{BigInt, Text};
use kontor_kernel::{PromoCode, StoreError};

use crate::database::{Abort, AnyConnection, in_turns};
use crate::statement::{Statement, by_place};

by_place! {
    struct CodeRow {
        id: i64 as BigInt,
        project_id: i64 as BigInt,
        code: String as Text,
    }
}

by_place! {
    struct CountRow {
        count: i64 as BigInt,
    }
}

/// Converts promo codes to upper case, the form in which they are compared. Of several that differ only by case, the
/// upper-case one keeps the code, else the oldest. The others get their id appended, and a warning is logged.
pub(crate) fn fill_promo_codes(connection: &mut AnyConnection) -> Result<(), Abort<StoreError>> {
    in_turns(connection, |connection| {
        let rows: Vec<CodeRow> = Statement::new(
            "SELECT id, project_id, code FROM discounts WHERE code <> upper(code) ORDER BY id LIMIT 500",
        )
        .rows(connection)?;
        for row in &rows {
            let code = free_code(connection, row)?;
            Statement::new("UPDATE discounts SET code = ")
                .value(code)
                .sql(" WHERE id = ")
                .value(row.id)
                .run(connection)?;
        }
        Ok(rows.len())
    })?;
    in_turns(connection, |connection| {
        let changed = Statement::new(
            "UPDATE orders SET promo_code = upper(promo_code) WHERE id IN (SELECT id FROM orders \
             WHERE promo_code IS NOT NULL AND promo_code <> upper(promo_code) LIMIT 500)",
        );
        Ok(changed.run(connection)?)
    })
}

fn free_code(connection: &mut AnyConnection, row: &CodeRow) -> Result<String, Abort<StoreError>> {
    let code = row.code.to_ascii_uppercase();
    let taken = Statement::new("SELECT count(*) AS count FROM discounts WHERE project_id = ")
        .value(row.project_id)
        .sql(" AND upper(code) = ")
        .value(code.as_str())
        .sql(" AND (id < ")
        .value(row.id)
        .sql(" OR code = ")
        .value(code.as_str())
        .sql(")");
    let CountRow { count } = taken.row(connection)?;
    if count == 0 {
        return Ok(code);
    }
    let number = format!("-{}", row.id);
    let kept: String = code.chars().take(PromoCode::MAX - number.len()).collect();
    let other = kept + &number;
    tracing::warn!(
        project = row.project_id,
        discount = row.id,
        code = row.code,
        renamed = other,
        "a promo code differed from another one only in case and was renamed"
    );
    Ok(other)
}
