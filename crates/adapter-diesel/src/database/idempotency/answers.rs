//! Table of stored responses, in the order of their requests.

use diesel::result::QueryResult;

use crate::database::AnyConnection;
use crate::statement::{Statement, Value};

/// Maximum responses per statement.
const CHUNK: usize = 64;

/// Stores responses by the numbers of their requests. A response whose key is deleted is not stored.
pub(super) fn insert(connection: &mut AnyConnection, answers: &[(i64, &[u8])]) -> QueryResult<()> {
    for some in answers.chunks(CHUNK) {
        let rows = some.iter().map(|(number, answer)| -> [Value; 2] { [(*number).into(), answer.to_vec().into()] });
        let insert =
            Statement::new("INSERT INTO idempotency_answers (number, answer) SELECT k.number, v.column2 FROM (VALUES ")
                .tuples(rows)
                .sql(") AS v JOIN idempotency_keys k ON k.number = v.column1 WHERE TRUE")
                // A concurrent deletion of the key waits, and then deletes the response too.
                .locked(connection, " FOR SHARE OF k")
                .sql(" ON CONFLICT (number) DO NOTHING");
        // A single response and a full chunk are the common cases; their statements stay prepared.
        let insert = if matches!(some.len(), 1 | CHUNK) { insert } else { insert.once() };
        insert.run(connection)?;
    }
    Ok(())
}

/// Deletes responses.
pub(super) fn forget(connection: &mut AnyConnection, numbers: &[i64]) -> QueryResult<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    Statement::new("DELETE FROM idempotency_answers WHERE number").among(numbers).run(connection).map(|_| ())
}
