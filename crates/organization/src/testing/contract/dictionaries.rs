use std::collections::BTreeSet;

use kontor_kernel::{DictionaryItemId, StorageUnitId, Word as _};

use super::Fixture;
use crate::model::Dictionary;
use crate::ports::DictionaryRepository;

/// Identifiers with a fixed meaning.
const FIXED: &[(Dictionary, &[i64])] = &[
    (Dictionary::OrderStatuses, &[1, 2, 3, 4, 5, 6, 22]),
    (Dictionary::NomenclatureKinds, &[1, 2]),
    (Dictionary::CounterpartyTypes, &[1, 2]),
    (Dictionary::FileTypes, &[1, 2, 3]),
    (Dictionary::TaskStatuses, &[1, 2, 3, 4]),
];

/// The entries of a dictionary are listed by number and found in their dictionary alone. Those with a fixed meaning
/// exist.
pub async fn an_entry_belongs_to_its_dictionary<F: Fixture<Store: DictionaryRepository>>(fixture: &F) {
    let store = fixture.store();
    let unknown = DictionaryItemId::new(i64::from(u32::MAX)).unwrap();
    for dictionary in Dictionary::all() {
        let items = store.items(*dictionary).await.unwrap();
        let numbers: Vec<DictionaryItemId> = items.iter().map(|item| item.id).collect();
        let ordered: BTreeSet<DictionaryItemId> = numbers.iter().copied().collect();
        assert!(numbers.iter().eq(&ordered), "{dictionary:?}: {numbers:?}");
        for item in items {
            assert_eq!(store.item(*dictionary, item.id).await.unwrap(), Some(item));
        }
        assert_eq!(store.item(*dictionary, unknown).await.unwrap(), None);
    }
    for (dictionary, numbers) in FIXED {
        for number in *numbers {
            let id = DictionaryItemId::new(*number).unwrap();
            assert!(store.item(*dictionary, id).await.unwrap().is_some(), "{dictionary:?}: {id}");
        }
    }
    let paid = DictionaryItemId::new(22).unwrap();
    assert_eq!(store.item(Dictionary::NomenclatureKinds, paid).await.unwrap(), None);
}

/// Storage units and countries are listed by number, each once. A storage unit is found by its number.
pub async fn units_and_countries_are_listed_by_number<F: Fixture<Store: DictionaryRepository>>(fixture: &F) {
    let store = fixture.store();
    let countries: Vec<_> = store.countries().await.unwrap().iter().map(|country| country.id).collect();
    let ordered: BTreeSet<_> = countries.iter().copied().collect();
    assert!(countries.iter().eq(&ordered), "{countries:?}");
    let units = store.storage_units().await.unwrap();
    let numbers: Vec<StorageUnitId> = units.iter().map(|unit| unit.id).collect();
    let ordered: BTreeSet<StorageUnitId> = numbers.iter().copied().collect();
    assert!(numbers.iter().eq(&ordered), "{numbers:?}");
    for unit in units {
        assert_eq!(store.storage_unit(unit.id).await.unwrap(), Some(unit));
    }
    let unknown = StorageUnitId::new(i64::from(u32::MAX)).unwrap();
    assert_eq!(store.storage_unit(unknown).await.unwrap(), None);
}
