use async_trait::async_trait;
use chrono::DateTime;
use kontor_kernel::{CountryId, DictionaryItemId, Name, ProjectId, StorageUnit, StorageUnitId, StoreError};

use super::{Guard, InMemoryOrganization};
use crate::model::{Country, Dictionary, DictionaryItem, ProjectInfo, TaskStatus};
use crate::ports::DictionaryRepository;

/// Entries with a fixed meaning, named as in a new installation.
const ITEMS: &[(Dictionary, &[(i64, &str)])] = &[
    (
        Dictionary::OrderStatuses,
        &[
            (1, "Created"),
            (2, "Waiting for payment"),
            (3, "In processing"),
            (4, "Ready for pickup"),
            (5, "Issued"),
            (6, "Canceled"),
            (22, "Paid"),
        ],
    ),
    (Dictionary::NomenclatureKinds, &[(1, "Service"), (2, "Goods")]),
    (Dictionary::CounterpartyTypes, &[(1, "Person"), (2, "Company")]),
    (Dictionary::FileTypes, &[(1, "Employment contract"), (2, "Avatar"), (3, "Order file")]),
    (Dictionary::TaskStatuses, &[(1, "New"), (2, "In progress"), (3, "Done"), (4, "Canceled")]),
];

const UNITS: [(i64, &str, &str); 3] = [(1, "Piece", "pc"), (2, "Kilogram", "kg"), (3, "Litre", "l")];

const COUNTRIES: [(i64, &str); 2] = [(1, "Russia"), (2, "Belarus")];

fn named(name: &str) -> Result<Name, StoreError> {
    Name::parse(name).map_err(StoreError::corrupt)
}

fn item((id, name): (i64, &str)) -> Result<DictionaryItem, StoreError> {
    let id = DictionaryItemId::new(id).map_err(StoreError::corrupt)?;
    Ok(DictionaryItem { id, name: named(name)?, avatar: None, created_at: DateTime::UNIX_EPOCH })
}

fn unit((id, name, abbreviation): (i64, &str, &str)) -> Result<StorageUnit, StoreError> {
    let id = StorageUnitId::new(id).map_err(StoreError::corrupt)?;
    Ok(StorageUnit { id, name: named(name)?, abbreviation: named(abbreviation)? })
}

fn country((id, name): (i64, &str)) -> Result<Country, StoreError> {
    let id = CountryId::new(id).map_err(StoreError::corrupt)?;
    Ok(Country { id, name: named(name)?, photo: None, created_at: DateTime::UNIX_EPOCH })
}

/// Returns the name of a task status.
pub(super) fn task_status(status: TaskStatus) -> Result<Name, StoreError> {
    let own = ITEMS.iter().filter(|(of, _)| *of == Dictionary::TaskStatuses);
    let name = own.flat_map(|(_, items)| items.iter()).find(|(number, _)| *number == status.id());
    named(name.map(|(_, name)| *name).unwrap_or_default())
}

#[async_trait]
impl DictionaryRepository for InMemoryOrganization {
    async fn items(&self, dictionary: Dictionary) -> Result<Vec<DictionaryItem>, StoreError> {
        let own = ITEMS.iter().filter(|(of, _)| *of == dictionary);
        own.flat_map(|(_, items)| items.iter().copied()).map(item).collect()
    }

    async fn item(&self, dictionary: Dictionary, id: DictionaryItemId) -> Result<Option<DictionaryItem>, StoreError> {
        let any = self.state.with(|state| !state.guards.has(Guard::Dictionary));
        let own = ITEMS.iter().filter(|(of, _)| *of == dictionary || any);
        let mut items = own.flat_map(|(_, items)| items.iter().copied());
        items.find(|(number, _)| *number == id.get()).map(item).transpose()
    }

    async fn storage_units(&self) -> Result<Vec<StorageUnit>, StoreError> {
        UNITS.into_iter().map(unit).collect()
    }

    async fn storage_unit(&self, id: StorageUnitId) -> Result<Option<StorageUnit>, StoreError> {
        UNITS.into_iter().find(|(number, ..)| *number == id.get()).map(unit).transpose()
    }

    async fn countries(&self) -> Result<Vec<Country>, StoreError> {
        COUNTRIES.into_iter().map(country).collect()
    }

    async fn project_info(&self, project: ProjectId) -> Result<Option<ProjectInfo>, StoreError> {
        let settings = self.state.with(|state| state.projects.get(&project).cloned());
        Ok(settings.map(|settings| ProjectInfo {
            name: settings.name.to_string(),
            currency: settings.currency,
            time_zone: settings.time_zone,
            language: settings.language,
            created_at: settings.created_at,
        }))
    }
}
