//! Reading the work of leased rows, outside the transaction that leased them.

use diesel::result::{Error as QueryError, QueryResult};
use kontor_kernel::StoreError;

use super::{Key, LeaseRequest, MAX_LAPSES, Queue};
use crate::database::{Abort, AnyConnection, Database};
use crate::statement::Statement;

/// Rows with their keys.
type Keyed<K, R> = Vec<(K, R)>;

/// Loads rows by their keys.
type Load<K, R> = fn(&mut AnyConnection, &[K]) -> QueryResult<Keyed<K, R>>;

/// Conversion of leased rows to work.
pub(crate) struct Leased<K, R, T> {
    /// Loads the rows with these keys, each with its key.
    pub load: Load<K, R>,
    /// Converts one row.
    pub read: fn(R) -> Result<T, StoreError>,
}

impl<K, R, T> Clone for Leased<K, R, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, R, T> Copy for Leased<K, R, T> {}

/// Loaded rows, and the reasons why the others could not be loaded.
struct Loaded<K, R> {
    rows: Vec<(K, R)>,
    unreadable: Vec<(K, String)>,
}

fn load<K: Key, R, T>(
    connection: &mut AnyConnection,
    keys: &[K],
    leased: Leased<K, R, T>,
) -> QueryResult<Loaded<K, R>> {
    let loaded = match (leased.load)(connection, keys) {
        // One of the rows has a malformed column. Loading them one by one finds it.
        Err(QueryError::DeserializationError(_)) => {
            let mut loaded = Loaded { rows: Vec::new(), unreadable: Vec::new() };
            for key in keys {
                match (leased.load)(connection, std::slice::from_ref(key)) {
                    Ok(rows) => loaded.rows.extend(rows),
                    Err(QueryError::DeserializationError(error)) => {
                        loaded.unreadable.push((key.clone(), error.to_string()));
                    }
                    Err(error) => return Err(error),
                }
            }
            loaded
        }
        rows => Loaded { rows: rows?, unreadable: Vec::new() },
    };
    let known = |key: &K| {
        loaded.rows.iter().any(|(known, _)| known == key) || loaded.unreadable.iter().any(|(known, _)| known == key)
    };
    let missing: Vec<(K, String)> = keys
        .iter()
        .filter(|key| !known(key))
        .map(|key| (key.clone(), "it refers to a missing record".to_owned()))
        .collect();
    Ok(Loaded { rows: loaded.rows, unreadable: loaded.unreadable.into_iter().chain(missing).collect() })
}

impl Queue {
    /// Parks rows, unless their lease has passed to another owner.
    fn park<K: Key>(&self, keys: &[K], reason: &str, request: &LeaseRequest) -> Statement {
        let Self { table, key: column, on_park, .. } = self;
        Statement::new(format!("UPDATE {table} SET parked_at = "))
            .value(request.now)
            .sql(", parked_reason = ")
            .value(reason)
            .sql(format!(", lease_owner = NULL, leased_until = NULL{on_park} WHERE {column} IN "))
            .tuple(keys.iter().cloned().map(Into::into))
            .sql(" AND parked_at IS NULL AND lease_owner = ")
            .value(request.owner.as_str())
    }

    /// Parks those of the leased rows that have too many lapses. Returns their keys.
    pub(super) fn park_lapsed<K: Key>(
        &self,
        connection: &mut AnyConnection,
        leased: &[K],
        request: &LeaseRequest,
    ) -> QueryResult<Vec<K>> {
        if leased.is_empty() {
            return Ok(Vec::new());
        }
        let reason = format!("{}: the worker failed or died {MAX_LAPSES} times in a row", self.table);
        let parked =
            self.park(leased, &reason, request).sql(format!(" AND lapses >= {MAX_LAPSES} RETURNING {}", self.key));
        let parked: Vec<K> = parked.scalars(connection)?;
        if !parked.is_empty() {
            let rows = parked.len();
            tracing::error!(
                queue = self.table,
                rows,
                "rows of a queue failed too often and are parked; run `kontor doctor`"
            );
        }
        Ok(parked)
    }
}

impl Database {
    /// Reads rows that were leased by this request, in the order of `load`. Rows that cannot be read are parked, each
    /// with a reason that names table and key.
    pub(crate) async fn read_leased<K: Key, R, T>(
        &self,
        queue: &'static Queue,
        request: &LeaseRequest,
        keys: Vec<K>,
        leased: Leased<K, R, T>,
    ) -> Result<Vec<T>, StoreError>
    where
        R: Send + 'static,
        T: Send + 'static,
    {
        let loaded = self.read(move |connection| Ok::<_, Abort<StoreError>>(load(connection, &keys, leased)?)).await?;
        let mut read = Vec::new();
        let mut unreadable = loaded.unreadable;
        for (key, row) in loaded.rows {
            match (leased.read)(row) {
                Ok(work) => read.push(work),
                Err(error) => unreadable.push((key, error.to_string())),
            }
        }
        if !unreadable.is_empty() {
            let request = request.clone();
            let parked = self.write(move |connection| {
                let mut parked = 0;
                for (key, reason) in &unreadable {
                    let reason = format!("{} {key}: {reason}", queue.table);
                    parked += queue.park(std::slice::from_ref(key), &reason, &request).run(connection)?;
                }
                Ok::<_, Abort<StoreError>>(parked)
            });
            let rows = parked.await?;
            // The key may be a login, which must not appear in a log.
            tracing::error!(
                queue = queue.table,
                rows,
                "rows of a queue cannot be read and are parked; run `kontor doctor` to list them"
            );
        }
        Ok(read)
    }
}
