//! Statement that reads all data of a cart, and its rows.
//!
//! A server answers one statement per round trip, and `BEGIN` and `COMMIT` of a snapshot take two more. Therefore all
//! parts of a cart are one statement, `UNION ALL` of a `SELECT` per part. It sees one state of the data without a
//! transaction.
//!
//! Each row begins with the number of its part, followed by the columns of all parts. Columns of other parts are NULL.

use std::sync::LazyLock;

use diesel::QueryableByName;
use diesel::backend::Backend;
use diesel::deserialize;
use diesel::result::{Error as QueryError, QueryResult};
use diesel::row::NamedRow;
use kontor_orders::ports::CartQuery;

use super::discounts::automatic;
use crate::applications::is_paid_online;
use crate::database::AnyConnection;
use crate::discount_rows::{COLUMNS, DiscountRow};
use crate::statement::{Placed, PlacedRow, Statement, by_place};

by_place! {
    /// Terms of a project, and its records with the ids that an order refers to; `None` for missing ones.
    pub(super) struct TermsRow {
        pub currency: String,
        pub tax_system_code: Option<i32>,
        pub default_vat_code: Option<i32>,
        pub customer_id: Option<i64>,
        pub phone: Option<String>,
        pub email: Option<String>,
        pub type_name: Option<String>,
        pub type_price: Option<i64>,
        pub type_is_active: Option<bool>,
        pub subtype_of: Option<i64>,
        pub subtype_price: Option<i64>,
        pub subtype_is_active: Option<bool>,
        pub param_of: Option<i64>,
        pub param_is_active: Option<bool>,
        pub param_address: Option<String>,
        pub shop_is_active: Option<bool>,
        pub shop_address: Option<String>,
        pub contact_max_pieces: i64,
        pub contact_max_value: i64,
        pub contact_hold_hours: i64,
        pub charges_delivery: bool,
        pub payment_is_online: Option<bool>,
        pub has_application: bool,
    }
}

by_place! {
    pub(super) struct CardRow {
        pub id: i64,
        pub name: String,
        pub kind_id: i64,
        pub category_id: Option<i64>,
        pub price: Option<i64>,
        pub wholesale: bool,
        pub pieces_per_pack: i32,
        pub vat_id: Option<i64>,
        pub type_id: Option<i64>,
    }
}

by_place! {
    pub(super) struct StockRow {
        pub id: i64,
        pub warehouse_id: i64,
        pub nomenclature_id: i64,
        pub quantity: i64,
        pub reserved: i64,
        pub price: Option<i64>,
    }
}

by_place! {
    pub(super) struct AncestorRow {
        pub leaf: i64,
        pub id: i64,
    }
}

/// Part of the statement.
struct Part {
    number: i64,
    /// Place of its first column in a row.
    first: usize,
    columns: usize,
}

impl Part {
    const fn after(before: &Self, columns: usize) -> Self {
        Self { number: before.number + 1, first: before.first + before.columns, columns }
    }

    /// Returns the `SELECT` list of a part after the terms.
    fn select(&self, columns: Statement) -> Statement {
        let before = self.first - TERMS.first;
        let after = ANCESTORS.first + ANCESTORS.columns - self.first - self.columns;
        let number = self.number;
        let list = Statement::new(format!("SELECT {number}{}, ", NULL.repeat(before))).then(columns);
        list.sql(NULL.repeat(after))
    }
}

const NULL: &str = ", NULL";

/// Types of the columns of all parts after the terms, in the order of the fields: `i` for `BIGINT`, `n` for `INTEGER`,
/// `t` for `TEXT`, `b` for `BOOLEAN`, `m` for `TIMESTAMP`.
const DISCOUNT_TYPES: &str = "itttitiimmiiitii";
const CARD_TYPES: &str = "itiiibnii";
const STOCK_TYPES: &str = "iiiiii";
const ANCESTOR_TYPES: &str = "ii";

const TERMS: Part = Part { number: 0, first: 1, columns: 23 };
const DISCOUNTS: Part = Part::after(&TERMS, DISCOUNT_TYPES.len());
const CARDS: Part = Part::after(&DISCOUNTS, CARD_TYPES.len());
const STOCK: Part = Part::after(&CARDS, STOCK_TYPES.len());
const ANCESTORS: Part = Part::after(&STOCK, ANCESTOR_TYPES.len());

/// Columns of the other parts in the first one. PostgreSQL takes the types of a union from there.
static TYPED_NULLS: LazyLock<String> = LazyLock::new(|| {
    let typed = |kind| match kind {
        'n' => ", CAST(NULL AS INTEGER)",
        't' => ", CAST(NULL AS TEXT)",
        'b' => ", CAST(NULL AS BOOLEAN)",
        'm' => ", CAST(NULL AS TIMESTAMP)",
        _ => ", CAST(NULL AS BIGINT)",
    };
    [DISCOUNT_TYPES, CARD_TYPES, STOCK_TYPES, ANCESTOR_TYPES].concat().chars().map(typed).collect()
});

enum PartRow {
    Terms(TermsRow),
    /// A discount, and for a promo code the number of the customer's orders with it.
    Discount(DiscountRow, i64),
    Card(CardRow),
    Stock(StockRow),
    Ancestor(AncestorRow),
}

impl<DB: Backend> QueryableByName<DB> for PartRow
where
    i64: Placed<DB>,
    TermsRow: PlacedRow<DB>,
    DiscountRow: PlacedRow<DB>,
    CardRow: PlacedRow<DB>,
    StockRow: PlacedRow<DB>,
    AncestorRow: PlacedRow<DB>,
{
    fn build<'a>(row: &impl NamedRow<'a, DB>) -> deserialize::Result<Self> {
        let number = <i64 as Placed<DB>>::at(row, 0)?;
        Ok(match number {
            0 => Self::Terms(PlacedRow::<DB>::read_at(row, TERMS.first)?),
            1 => {
                let used = <i64 as Placed<DB>>::at(row, CARDS.first - 1)?;
                Self::Discount(PlacedRow::<DB>::read_at(row, DISCOUNTS.first)?, used)
            }
            2 => Self::Card(PlacedRow::<DB>::read_at(row, CARDS.first)?),
            3 => Self::Stock(PlacedRow::<DB>::read_at(row, STOCK.first)?),
            4 => Self::Ancestor(PlacedRow::<DB>::read_at(row, ANCESTORS.first)?),
            other => return Err(format!("a cart has no part {other}").into()),
        })
    }
}

/// Rows of a cart by part.
pub(super) struct CartRows {
    pub terms: TermsRow,
    /// Automatic discounts that may apply to the items, and the discount with the promo code. Each with the number of
    /// the customer's orders that use the code, 0 without a code.
    pub discounts: Vec<(DiscountRow, i64)>,
    pub cards: Vec<CardRow>,
    pub stock: Vec<StockRow>,
    /// Categories of the items, each with its ancestors; empty if no discount depends on a category.
    pub ancestors: Vec<AncestorRow>,
}

/// Reads all data of a cart by one statement.
pub(super) fn read(connection: &mut AnyConnection, query: &CartQuery) -> QueryResult<CartRows> {
    let ids: Vec<i64> = query.items.iter().map(|item| item.get()).collect();
    let statement = with_ancestors(query, &ids)
        .then(terms(query))
        .sql(" UNION ALL ")
        .then(discounts(query, &ids))
        .sql(" UNION ALL ")
        .then(cards(query, &ids))
        .sql(" UNION ALL ")
        .then(stock(query, &ids))
        .sql(" UNION ALL ")
        .then(ANCESTORS.select(Statement::new("leaf, id")).sql(" FROM up"));
    let rows: Vec<PartRow> = statement.rows(connection)?;
    let (mut terms, mut discounts, mut cards, mut stock, mut ancestors) = (None, vec![], vec![], vec![], vec![]);
    for row in rows {
        match row {
            PartRow::Terms(row) => terms = Some(row),
            PartRow::Discount(row, used) => discounts.push((row, used)),
            PartRow::Card(row) => cards.push(row),
            PartRow::Stock(row) => stock.push(row),
            PartRow::Ancestor(row) => ancestors.push(row),
        }
    }
    Ok(CartRows { terms: terms.ok_or(QueryError::NotFound)?, discounts, cards, stock, ancestors })
}

/// Defines `up`: the categories of these items with their ancestors, if a discount depends on a category.
fn with_ancestors(query: &CartQuery, ids: &[i64]) -> Statement {
    const BY_CATEGORY: &str = "EXISTS (SELECT 1 FROM discounts WHERE target = 'category' AND project_id = ";
    let project = query.point.project_id.get();
    let seed = Statement::new(
        "WITH RECURSIVE up (leaf, id, parent_id) AS (SELECT c.id, c.id, c.parent_id FROM nomenclatures n \
         JOIN categories c ON c.id = n.category_id AND c.project_id = n.project_id WHERE +n.project_id = ",
    )
    .value(project)
    .sql(" AND n.id")
    .among(ids)
    .sql(" AND (")
    .sql(BY_CATEGORY)
    .value(project)
    .sql(" AND status = 'active' AND code IS NULL)");
    let seed = match &query.promo {
        None => seed,
        Some(code) => {
            seed.sql(" OR ").sql(BY_CATEGORY).value(project).sql(" AND code = ").value(code.as_str()).sql(")")
        }
    };
    seed.sql(
        ") UNION SELECT up.leaf, c.id, c.parent_id FROM up JOIN categories c ON c.id = up.parent_id AND c.project_id = ",
    )
    .value(project)
    .sql(") ")
}

/// Selects all records that are found by one id each. Ids that are not set find nothing.
fn terms(query: &CartQuery) -> Statement {
    let delivery = query.delivery.as_ref();
    let (project, application) = (query.point.project_id, query.point.application_id);
    Statement::new(
        "SELECT CAST(0 AS BIGINT), p.currency, t.tax_system_code, t.default_vat_code, c.id, c.phone_1, c.email, \
         dt.name, dt.price, dt.is_active, ds.delivery_type_id, ds.price, ds.is_active, dp.delivery_subtype_id, \
         dp.is_active, dp.address, sh.is_active, sh.address, p.contact_max_pieces, p.contact_max_value, \
         p.contact_hold_hours, p.charges_delivery, (",
    )
    .then(is_paid_online(project, application, delivery.and_then(|delivery| delivery.payment_type_id)))
    .sql("), EXISTS (SELECT 1 FROM applications a WHERE a.project_id = p.id AND a.id = ")
    .value(application.map(i64::from))
    .sql(")")
    .sql(TYPED_NULLS.as_str())
    .sql(
        " FROM projects p LEFT JOIN receipt_settings t ON t.project_id = p.id \
         LEFT JOIN counterparties c ON c.project_id = p.id AND c.deleted_at IS NULL AND c.id = ",
    )
    .value(query.customer.map(i64::from))
    .sql(" LEFT JOIN delivery_types dt ON dt.project_id = p.id AND dt.id = ")
    .value(delivery.map(|delivery| delivery.type_id.get()))
    .sql(" LEFT JOIN delivery_subtypes ds ON ds.project_id = p.id AND ds.id = ")
    .value(delivery.and_then(|delivery| delivery.subtype_id).map(i64::from))
    .sql(" LEFT JOIN delivery_subtype_params dp ON dp.project_id = p.id AND dp.id = ")
    .value(delivery.and_then(|delivery| delivery.subtype_param_id).map(i64::from))
    .sql(" LEFT JOIN shops sh ON sh.project_id = p.id AND sh.id = ")
    .value(delivery.and_then(|delivery| delivery.shop_id).map(i64::from))
    .sql(" WHERE p.id = ")
    .value(project.get())
}

/// Selects the automatic discounts that may apply to these items, and the discount with the promo code.
fn discounts(query: &CartQuery, ids: &[i64]) -> Statement {
    let project = query.point.project_id.get();
    let columns = |used: Statement| DISCOUNTS.select(Statement::new(COLUMNS).sql(", ").then(used));
    let automatic = columns(Statement::new("0")).then(automatic(project, ids));
    let Some(code) = &query.promo else { return automatic };
    let used = Statement::new(
        "(SELECT count(*) FROM discount_usages u WHERE u.project_id = discounts.project_id \
         AND u.discount_id = discounts.id AND u.counterparty_id = ",
    )
    .value(query.customer.map(i64::from))
    .sql(")");
    automatic
        .sql(" UNION ALL ")
        .then(columns(used))
        .sql(" FROM discounts WHERE project_id = ")
        .value(project)
        .sql(" AND code = ")
        .value(code.as_str())
}

fn cards(query: &CartQuery, ids: &[i64]) -> Statement {
    let columns = "id, name, kind_id, category_id, price, wholesale, pieces_per_pack, vat_id, type_id";
    CARDS
        .select(Statement::new(columns))
        .sql(" FROM nomenclatures WHERE project_id = ")
        .value(query.point.project_id.get())
        .sql(" AND is_subscription = ")
        .value(false)
        .sql(" AND id")
        .among(ids)
}

/// Selects the stock of these items in the warehouses of the application; without an application, in all. The plus
/// before `project_id` keeps SQLite, which has no statistics, from reading all stock of the project.
fn stock(query: &CartQuery, ids: &[i64]) -> Statement {
    let columns = "i.id, i.warehouse_id, i.nomenclature_id, i.quantity, i.reserved, i.price";
    let stock = STOCK.select(Statement::new(columns)).sql(" FROM inventories i ");
    let stock = match query.point.application_id {
        Some(application) => stock
            .sql(
                "JOIN warehouse_applications w ON w.warehouse_id = i.warehouse_id AND w.project_id = +i.project_id \
                 AND w.application_id = ",
            )
            .value(application.get())
            .sql(" WHERE "),
        None => stock.sql("WHERE i.deleted_at IS NULL AND "),
    };
    stock.sql("+i.project_id = ").value(query.point.project_id.get()).sql(" AND i.nomenclature_id").among(ids)
}
