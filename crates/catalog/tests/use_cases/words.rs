//! Words of enums. They are part of stored rows and of the contract, so they must not change.

use kontor_catalog::bulk::{JobKind, JobPhase, JobState};
use kontor_catalog::model::{DiscountKind, DiscountState, StockReason, TargetKind};
use kontor_catalog::spreadsheet::{ImportKind, RowAction};
use kontor_catalog::storefront::ProductOrder;
use kontor_kernel::Word;

fn words<T: Word>() -> Vec<&'static str> {
    T::all().iter().map(|value| value.word()).collect()
}

#[test]
fn stored_words_do_not_change() {
    assert_eq!(
        words::<JobKind>(),
        ["nomenclatures_import", "inventories_upload", "inventories_export", "orders_export", "counterparties_export"]
    );
    assert_eq!(words::<JobState>(), ["queued", "running", "succeeded", "failed", "canceled"]);
    assert_eq!(words::<JobPhase>(), ["checking", "writing"]);
    assert_eq!(words::<ImportKind>(), ["nomenclatures_import", "inventories_upload"]);
    assert_eq!(words::<RowAction>(), ["create", "update", "unchanged", "skip"]);
    let reasons = [
        "opening",
        "creation",
        "edit",
        "upload",
        "reservation",
        "release",
        "sale",
        "correction",
        "return",
        "write_off",
    ];
    assert_eq!(words::<StockReason>(), reasons);
    assert_eq!(words::<DiscountState>(), ["active", "scheduled", "expired", "paused", "archived"]);
    assert_eq!(words::<DiscountKind>(), ["percent", "fixed"]);
    assert_eq!(words::<TargetKind>(), ["cart", "category", "product"]);
    let orders = ["name_asc", "name_desc", "popularity_asc", "popularity_desc", "price_asc", "price_desc"];
    assert_eq!(words::<ProductOrder>(), orders);
}
