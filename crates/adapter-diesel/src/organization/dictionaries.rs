use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{DictionaryItemId, ProjectId, StorageUnitId, StoreError, Word, Zone};
use kontor_organization::model::{Country, Dictionary, DictionaryItem, ProjectInfo, StorageUnit};
use kontor_organization::ports::DictionaryRepository;

use crate::database::{Abort, Database};
use crate::decode;
use crate::schema::{countries, dictionary_items, projects, storage_units};

/// Id, name, picture and time of creation.
type ItemRow = (i64, String, Option<String>, NaiveDateTime);

fn item((id, name, avatar, created_at): ItemRow) -> Result<DictionaryItem, StoreError> {
    let (id, name) = (decode::id(id)?, decode::text(&name)?);
    Ok(DictionaryItem { id, name, avatar, created_at: decode::moment(created_at) })
}

fn country((id, name, photo, created_at): ItemRow) -> Result<Country, StoreError> {
    let (id, name) = (decode::id(id)?, decode::text(&name)?);
    Ok(Country { id, name, photo, created_at: decode::moment(created_at) })
}

fn unit((id, name, abbreviation): (i64, String, String)) -> Result<StorageUnit, StoreError> {
    Ok(StorageUnit { id: decode::id(id)?, name: decode::text(&name)?, abbreviation: decode::text(&abbreviation)? })
}

/// Columns of an [`ItemRow`].
const ITEM: (dictionary_items::id, dictionary_items::name, dictionary_items::avatar, dictionary_items::created_at) =
    (dictionary_items::id, dictionary_items::name, dictionary_items::avatar, dictionary_items::created_at);

#[async_trait]
impl DictionaryRepository for Database {
    async fn items(&self, dictionary: Dictionary) -> Result<Vec<DictionaryItem>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<ItemRow> = dictionary_items::table
                .filter(dictionary_items::dictionary.eq(dictionary.word()))
                .order(dictionary_items::id)
                .select(ITEM)
                .load(connection)?;
            rows.into_iter().map(|row| item(row).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn item(&self, dictionary: Dictionary, id: DictionaryItemId) -> Result<Option<DictionaryItem>, StoreError> {
        self.read(move |connection| {
            let row: Option<ItemRow> = dictionary_items::table
                .find((dictionary.word(), id.get()))
                .select(ITEM)
                .first(connection)
                .optional()?;
            row.map(item).transpose().map_err(Abort::Store)
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

    async fn storage_unit(&self, id: StorageUnitId) -> Result<Option<StorageUnit>, StoreError> {
        self.read(move |connection| {
            let row: Option<(i64, String, String)> =
                storage_units::table.find(id.get()).first(connection).optional()?;
            row.map(unit).transpose().map_err(Abort::Store)
        })
        .await
    }

    async fn countries(&self) -> Result<Vec<Country>, StoreError> {
        self.read(|connection| {
            let rows: Vec<ItemRow> = countries::table.order(countries::id).load(connection)?;
            rows.into_iter().map(|row| country(row).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn project_info(&self, project: ProjectId) -> Result<Option<ProjectInfo>, StoreError> {
        self.read(move |connection| {
            let row: Option<(String, String, String, String, NaiveDateTime)> = projects::table
                .find(project.get())
                .select((
                    projects::name,
                    projects::currency,
                    projects::time_zone,
                    projects::language,
                    projects::created_at,
                ))
                .first(connection)
                .optional()?;
            row.map(|(name, currency, zone, language, created_at)| {
                let time_zone = Zone::parse(&zone).map_err(StoreError::corrupt)?;
                let language = decode::word("projects", project, "language", &language)?;
                Ok(ProjectInfo { name, currency, time_zone, language, created_at: decode::moment(created_at) })
            })
            .transpose()
        })
        .await
    }
}
