//! Table of shops.

use kontor_kernel::BranchId;
use kontor_kernel::listing::Sort;
use kontor_organization::model::StaffShop;

use crate::table::{Cell, Column, Filter, Table, list_params};

/// Table of `GET /api/tables/shops`, with the parameters of `GET /api/shops`.
pub(super) const TABLE: Table<StaffShop> = Table {
    id: 62,
    resource: "shops",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |shop| Cell::plain(shop.id.get())),
        Column::with_icon("name", "Name", |shop| Cell::Linked {
            value: shop.details.name.as_str().into(),
            icon: shop.details.photo.as_ref().map(ToString::to_string),
            link: Some(format!("/api/shops/{}", shop.id)),
        }),
        Column::new("address", "Address", |shop| Cell::plain(shop.details.address.as_str())),
        Column::new("phone", "Phone", |shop| Cell::plain(shop.details.phone.as_deref())),
        Column::with_icon("branch", "Branch", |shop| {
            Cell::linked(shop.branch_name.as_str(), format!("/api/branches/{}", shop.details.branch_id))
        }),
        Column::new("time_zone", "Time zone", |shop| Cell::plain(shop.times.zone.name())),
        Column::new("is_active", "Shown", |shop| Cell::plain(shop.details.is_active)),
        Column::new("created_at", "Created", |shop| Cell::moment(shop.created_at)),
        Column::new("updated_at", "Changed", |shop| Cell::moment(shop.updated_at)),
    ],
    sorts: &["id", "name", "created_at", "updated_at"],
    filters: &[
        Filter::id::<BranchId>("branch_id", "Of these branches."),
        Filter::flag("is_active", "Whether customers see it."),
    ],
    search: Some("Part of the name, in any case."),
    period: Some("created_at"),
    order: Sort::ascending("id"),
};

list_params! {
    /// Query parameters of `GET /api/shops` and `GET /api/tables/shops`.
    ShopParams of TABLE
}
