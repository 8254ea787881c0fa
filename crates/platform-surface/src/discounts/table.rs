//! Table of discounts.

use kontor_catalog::model::{Discount, DiscountState, TargetKind};
use kontor_kernel::listing::Sort;
use kontor_kernel::{Name, Quantity, Word as _};

use super::record::target_word;
use crate::table::{Cell, Column, Filter, Table, list_params};

/// Table of `GET /api/tables/discounts`. A row is a discount with its current state.
pub(super) const TABLE: Table<(DiscountState, Discount)> = Table {
    id: 81,
    resource: "discounts",
    version: Some(|(_, discount)| discount.version.into()),
    columns: &[
        Column::new("id", "No.", |(_, discount)| Cell::plain(discount.id.get())),
        Column::with_icon("name", "Name", |(_, discount)| {
            Cell::linked(discount.terms.name.as_str(), format!("/api/discounts/{}", discount.id))
        }),
        Column::new("code", "Promo code", |(_, discount)| {
            Cell::plain(discount.terms.promo.as_ref().map(|promo| promo.code.to_string()))
        }),
        Column::new("type", "Type", |(_, discount)| Cell::plain(discount.terms.value.kind())),
        Column::new("value", "Value", |(_, discount)| Cell::plain(discount.terms.value.to_string())),
        Column::new("target", "Target", |(_, discount)| Cell::plain(target_word(discount.terms.target))),
        Column::new("target_name", "Applies to", |(_, discount)| {
            Cell::plain(discount.target_name.as_ref().map(Name::as_str))
        }),
        Column::new("status", "Status", |(state, _)| Cell::plain(state.word())),
        Column::new("starts_at", "From", |(_, discount)| Cell::moment(discount.terms.period.starts_at())),
        Column::new("ends_at", "Until", |(_, discount)| Cell::moment(discount.terms.period.ends_at())),
        Column::new("usage_limit", "Limit", |(_, discount)| {
            let limit = discount.terms.promo.as_ref().and_then(|promo| promo.usage_limit);
            Cell::plain(limit.map(Quantity::get))
        }),
        Column::new("used_count", "Orders", |(_, discount)| Cell::plain(discount.used_count)),
        Column::new("used_amount", "Given", |(_, discount)| Cell::plain(discount.used_amount.to_string())),
        Column::new("created_at", "Created", |(_, discount)| Cell::moment(discount.created_at)),
    ],
    sorts: &["id"],
    filters: &[
        Filter::word::<DiscountState>("status", "Currently in these states."),
        Filter::flag("has_code", "`1` returns only discounts with a promo code, `0` only those without."),
        Filter::word::<TargetKind>("target", "With these targets."),
    ],
    search: Some("Part of the name or the promo code, in any case."),
    period: None,
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/discounts`.
    DiscountParams of TABLE
}
