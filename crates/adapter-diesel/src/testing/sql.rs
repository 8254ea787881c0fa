//! Plain SQL, for tests that bypass the ports or corrupt stored data.

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use kontor_kernel::StoreError;

use super::{TestDatabase, must};
use crate::Abort;

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    number: i64,
}

#[derive(diesel::QueryableByName)]
struct NamedNumber {
    #[diesel(sql_type = diesel::sql_types::Text)]
    name: String,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    number: i64,
}

impl TestDatabase {
    /// Runs statements unchanged.
    ///
    /// # Panics
    /// If one of them fails.
    pub async fn run(&self, statements: String) {
        let ran = self.database.write_and_invalidate_all(move |connection| {
            connection.batch_execute(&statements)?;
            Ok::<_, Abort<StoreError>>(())
        });
        must(ran.await);
    }

    /// Returns the column `number` of a statement, which may write.
    ///
    /// # Panics
    /// If the statement fails or returns no row.
    pub async fn number(&self, statement: String) -> i64 {
        let ran = self.database.write_and_invalidate_all(move |connection| {
            let row: Number = diesel::sql_query(&statement).get_result(connection)?;
            Ok::<_, Abort<StoreError>>(row.number)
        });
        must(ran.await)
    }

    /// Returns the columns `name` and `number` of a query.
    ///
    /// # Panics
    /// If the query fails.
    pub async fn named_numbers(&self, query: String) -> Vec<(String, i64)> {
        let read = self.database.read(move |connection| {
            let rows: Vec<NamedNumber> = diesel::sql_query(&query).load(connection)?;
            Ok::<_, Abort<StoreError>>(rows.into_iter().map(|row| (row.name, row.number)).collect())
        });
        must(read.await)
    }
}
