use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::StoreError;
use kontor_organization::model::{Dictionary, DictionaryItem, StorageUnit};
use kontor_organization::ports::DictionaryRepository;

use crate::database::{Abort, Database};
use crate::schema::{dictionary_items, storage_units};
use crate::stored;

type ItemRow = (i64, String, Option<String>, NaiveDateTime);

fn item((id, name, avatar, created_at): ItemRow) -> Result<DictionaryItem, StoreError> {
    Ok(DictionaryItem { id, name: stored::text(&name)?, avatar, created_at: stored::moment(created_at) })
}

fn unit((id, name, abbreviation): (i64, String, String)) -> Result<StorageUnit, StoreError> {
    Ok(StorageUnit { id: stored::id(id)?, name: stored::text(&name)?, abbreviation: stored::text(&abbreviation)? })
}

#[async_trait]
impl DictionaryRepository for Database {
    async fn items(&self, dictionary: Dictionary) -> Result<Vec<DictionaryItem>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<ItemRow> = dictionary_items::table
                .filter(dictionary_items::dictionary.eq(dictionary.name()))
                .order(dictionary_items::id)
                .select((
                    dictionary_items::id,
                    dictionary_items::name,
                    dictionary_items::avatar,
                    dictionary_items::created_at,
                ))
                .load(connection)?;
            rows.into_iter().map(|row| item(row).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn storage_units(&self) -> Result<Vec<StorageUnit>, StoreError> {
        self.read(|connection| {
            let rows: Vec<(i64, String, String)> = storage_units::table.order(storage_units::id).load(connection)?;
            rows.into_iter().map(|row| unit(row).map_err(Abort::Store)).collect()
        })
        .await
    }
}
