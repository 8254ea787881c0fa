use std::collections::{HashMap, HashSet};

use kontor_kernel::{InventoryId, Line, Money, Name, NomenclatureId, WarehouseId};

use super::card_sheet::item_key;
use super::cell::{money, stock_level};
use super::column_map::Column;
use super::sheet::{Fields, ImportRow, SeenKeys, Sheet};
use super::vocabulary::{AMBIGUOUS_NAME, Dictionary};
use super::{Content, ImportReport, ItemKey, RowPreview, RowProblems, quotable};
use crate::model::{Reference, StockLevel, price_of_new_stock};

/// Column of a stock sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockColumn {
    /// Article (SKU) of the item.
    Article,
    /// Name or identifier of the warehouse.
    Warehouse,
    /// Units in the warehouse, reserved units included.
    Quantity,
    /// Price of one unit.
    Price,
    /// Identifier of the item; it matches an item without an article.
    Id,
}

impl Column for StockColumn {
    const ALL: &'static [(Self, &'static str, &'static [&'static str])] = &[
        (Self::Article, "article", &["артикул"]),
        (Self::Warehouse, "warehouse", &["warehouse_id", "склад"]),
        (Self::Quantity, "quantity", &["количество", "остаток"]),
        (Self::Price, "price", &["цена"]),
        (Self::Id, "kontor_id", &[]),
    ];

    fn is_number(self) -> bool {
        matches!(self, Self::Quantity | Self::Price)
    }
}

/// Change of a stock level by a row. A missing column or an empty cell changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockRow {
    /// Row number as the spreadsheet counts, from 1.
    pub row: u32,
    /// Item.
    pub key: ItemKey,
    /// Warehouse as written in the file.
    pub warehouse: String,
    /// Units in the warehouse.
    pub quantity: Option<StockLevel>,
    /// Price of one unit.
    pub price: Option<Money>,
}

/// Rows of a stock sheet.
pub type StockSheet = Sheet<StockRow>;

impl ImportRow for StockRow {
    type Column = StockColumn;

    const NEEDED: &'static [StockColumn] = &[StockColumn::Article, StockColumn::Warehouse];

    /// Refuses rows that repeat an item and warehouse. Records of earlier parts are not known here, so rows are compared
    /// by their texts.
    fn parse(fields: &mut Fields<'_, StockColumn>, seen: &mut SeenKeys) -> Option<Self> {
        let row = stock_row(fields)?;
        if seen.first_row((&row.key, row.warehouse.to_lowercase()), row.row).is_some() {
            fields.problem(StockColumn::Article, DUPLICATE_ROW);
            return None;
        }
        Some(row)
    }
}

const NO_PRICE: &str = "is required for new stock: the item has no price above 0 of its own";
const DUPLICATE_ROW: &str = "is already in an earlier row with this warehouse";

fn stock_row(fields: &mut Fields<'_, StockColumn>) -> Option<StockRow> {
    let warehouse = fields.parse_filled(StockColumn::Warehouse, |text| Name::parse(text).map(String::from));
    let is_left_out = warehouse.is_none() && !fields.is_faulty();
    let key = item_key(fields, StockColumn::Article, StockColumn::Id);
    if is_left_out {
        fields.problem(StockColumn::Warehouse, "is required");
    }
    let quantity = fields.parse_filled(StockColumn::Quantity, stock_level);
    let price = fields.parse_filled(StockColumn::Price, money);
    let row = StockRow { row: fields.number(), key: key?, warehouse: warehouse?, quantity, price };
    (!fields.is_faulty()).then_some(row)
}

/// Existing items, warehouses and stock levels of a sheet.
#[derive(Debug, Clone, Default)]
pub struct StockLookup {
    warehouses: Dictionary<WarehouseId>,
    items: HashMap<ItemKey, (NomenclatureId, bool, Option<Money>)>,
    stock: HashMap<(NomenclatureId, WarehouseId), KnownStock>,
}

#[derive(Debug, Clone, Copy)]
struct KnownStock {
    id: InventoryId,
    quantity: StockLevel,
    reserved: StockLevel,
    price: Option<Money>,
}

impl StockLookup {
    /// Adds a warehouse of the project.
    pub fn add_warehouse(&mut self, warehouse: Reference<WarehouseId>) {
        self.warehouses.add(warehouse.id, warehouse.name, None);
    }

    /// Adds an item with its own price. `is_stocked` is `true` if it can have stock.
    pub fn add_item(
        &mut self,
        article: Option<Line<100>>,
        id: NomenclatureId,
        is_stocked: bool,
        card_price: Option<Money>,
    ) {
        let item = (id, is_stocked, card_price);
        self.items.extend(article.map(|article| (ItemKey::Article(article), item)));
        self.items.insert(ItemKey::Id(id), item);
    }

    /// Returns the row with its effect: skipped if it is refused, unchanged if nothing is written.
    fn preview(&self, row: &StockRow, decided: &Decided) -> RowPreview {
        let warehouse = Some(quotable(&row.warehouse));
        let preview = |preview: RowPreview| RowPreview { warehouse, ..preview };
        let article = match &row.key {
            ItemKey::Article(article) => Some(article),
            ItemKey::Id(_) => None,
        };
        let item = self.items.get(&row.key).map(|(id, ..)| *id);
        let place = |warehouse| item.and_then(|item| self.stock.get(&(item, warehouse)));
        let Ok(write) = decided else {
            return preview(RowPreview::skipped(row.row, article.is_some().then_some(&row.key)));
        };
        let warehouse = write.map(|write| write.warehouse_id).or_else(|| self.warehouses.find(&row.warehouse, None));
        let known = warehouse.and_then(place);
        let plain = RowPreview::unchanged(row.row, article, known.map(|known| known.id.get()));
        let cells = |quantity: StockLevel, price: Option<Money>| {
            [
                (StockColumn::Quantity.name(), Content::Number(quantity.get().to_string())),
                (StockColumn::Price.name(), price.map_or(Content::Empty, |price| Content::Number(price.to_string()))),
            ]
        };
        preview(match (write, known) {
            (None, _) => plain,
            (Some(write), None) => plain.creating(cells(write.quantity, write.price)),
            (Some(write), Some(known)) => {
                let pairs = cells(known.quantity, known.price).into_iter().zip(cells(write.quantity, write.price));
                plain.updating(pairs.map(|((name, before), (_, after))| (name, before, after)))
            }
        })
    }

    /// Adds a stock level: quantity, reserved units and price.
    pub fn add_stock(
        &mut self,
        (id, item, warehouse): (InventoryId, NomenclatureId, WarehouseId),
        quantity: StockLevel,
        reserved: StockLevel,
        price: Option<Money>,
    ) {
        self.stock.insert((item, warehouse), KnownStock { id, quantity, reserved, price });
    }
}

/// Stock level to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockWrite {
    /// Identifier; `None` for a new stock level.
    pub id: Option<InventoryId>,
    /// Item.
    pub nomenclature_id: NomenclatureId,
    /// Warehouse.
    pub warehouse_id: WarehouseId,
    /// Number of units.
    pub quantity: StockLevel,
    /// Price of one unit. A stock level that never had a price may stay without one.
    pub price: Option<Money>,
}

/// Changes by a stock sheet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StockDecision {
    /// Stock levels to write.
    pub writes: Vec<StockWrite>,
    /// Number of stock levels that already match the file.
    pub unchanged: usize,
    /// Problems of the other rows.
    pub problems: RowProblems,
    /// Number of the other rows.
    pub skipped: usize,
    rows: Vec<RowPreview>,
}

impl StockDecision {
    /// Computes the changes from the sheet and the existing records. The price of new stock is that of
    /// [`price_of_new_stock`].
    pub fn of(sheet: &StockSheet, target: &StockLookup) -> Self {
        let mut decision = Self { problems: sheet.problems.clone(), skipped: sheet.refused, ..Self::default() };
        let mut seen = HashSet::new();
        let mut rows = RowPreview::from_problems(&sheet.problems);
        for (place, row) in sheet.rows.iter().enumerate() {
            let decided = decide(row, target, &mut seen);
            if place < RowPreview::MAX_ROWS {
                rows.push(target.preview(row, &decided));
            }
            match decided {
                Ok(Some(write)) => decision.writes.push(write),
                Ok(None) => decision.unchanged += 1,
                Err((column, reason)) => {
                    decision.problems.add(row.row, column.name(), reason);
                    decision.skipped += 1;
                }
            }
        }
        decision.problems = decision.problems.sorted();
        decision.rows = RowPreview::first(rows);
        decision
    }

    /// Returns the report of writing the changes.
    pub fn report(self, sheet: &StockSheet) -> ImportReport {
        let created = self.writes.iter().filter(|write| write.id.is_none()).count();
        ImportReport {
            created,
            updated: self.writes.len() - created,
            unchanged: self.unchanged,
            skipped: self.skipped,
            problems: self.problems,
            ignored_columns: sheet.ignored_columns.clone(),
            rows: self.rows,
        }
    }
}

/// Stock level to write, `None` if the row changes nothing, or the column with the problem and its reason.
type Decided = Result<Option<StockWrite>, (StockColumn, String)>;

fn decide(row: &StockRow, target: &StockLookup, seen: &mut HashSet<(NomenclatureId, WarehouseId)>) -> Decided {
    let refuse = |column, reason: &str| (column, reason.to_owned());
    let (item, is_stocked, card_price) =
        *target.items.get(&row.key).ok_or_else(|| refuse(StockColumn::Article, "there is no such item"))?;
    let warehouse = target.warehouses.find(&row.warehouse, None).ok_or_else(|| {
        let several = target.warehouses.is_ambiguous(&row.warehouse);
        refuse(StockColumn::Warehouse, if several { AMBIGUOUS_NAME } else { "there is no such warehouse" })
    })?;
    if !is_stocked {
        return Err(refuse(StockColumn::Article, "is a service or a plan, which needs no stock"));
    }
    if !seen.insert((item, warehouse)) {
        return Err(refuse(StockColumn::Article, DUPLICATE_ROW));
    }
    let known = target.stock.get(&(item, warehouse));
    let quantity = row
        .quantity
        .or(known.map(|known| known.quantity))
        .ok_or_else(|| refuse(StockColumn::Quantity, "is required for new stock"))?;
    let price = match known {
        Some(known) => row.price.or(known.price),
        None => Some(price_of_new_stock(row.price, card_price).ok_or_else(|| refuse(StockColumn::Price, NO_PRICE))?),
    };
    if let Some(known) = known {
        if quantity < known.reserved {
            let reason = format!("must be at least {}, the number of reserved pieces", known.reserved.get());
            return Err((StockColumn::Quantity, reason));
        }
        if (quantity, price) == (known.quantity, known.price) {
            return Ok(None);
        }
    }
    let id = known.map(|known| known.id);
    Ok(Some(StockWrite { id, nomenclature_id: item, warehouse_id: warehouse, quantity, price }))
}
