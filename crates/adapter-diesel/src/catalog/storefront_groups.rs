//! Categories and brands that an application shows.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::storefront::{StorefrontBrand, StorefrontCategory};
use kontor_kernel::{AppScope, CategoryId, StoreError};

use super::storefront::{photo, reference};
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::schema::{application_brands, brands};
use crate::statement::{Statement, by_place};
use crate::unreadable;

by_place! {
    struct CategoryRow {
        id: i64,
        name: String,
        photo: Option<String>,
        parent_id: Option<i64>,
        parent_name: Option<String>,
    }
}

impl TryFrom<CategoryRow> for StorefrontCategory {
    type Error = StoreError;

    fn try_from(row: CategoryRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            photo: row.photo.as_deref().map(photo).transpose()?,
            parent: reference(row.parent_id, row.parent_name)?,
        })
    }
}

fn roots(app: AppScope) -> Statement {
    Statement::new(
        "SELECT c.id, c.name, c.photo, c.parent_id, NULL AS parent_name FROM application_categories a \
         JOIN categories c ON c.id = a.category_id WHERE c.parent_id IS NULL AND a.application_id = ",
    )
    .value(app.application_id.get())
    .sql(" ORDER BY a.position, a.category_id")
}

/// Selects the children of a category. A category is shown when one of its ancestors is assigned.
fn children(app: AppScope, parent: CategoryId) -> Statement {
    Statement::new("SELECT c.id, c.name, c.photo, c.parent_id, p.name AS parent_name FROM categories p JOIN categories c ON c.parent_id = p.id AND c.project_id = p.project_id WHERE p.project_id = ")
        .value(app.project_id.get())
        .sql(" AND p.id = ")
        .value(parent.get())
        .sql(" AND EXISTS (WITH RECURSIVE above (id) AS (SELECT CAST(")
        .value(parent.get())
        .sql(
            " AS BIGINT) UNION SELECT up.parent_id FROM categories up JOIN above ON up.id = above.id) \
             SELECT 1 FROM above JOIN application_categories a ON a.category_id = above.id WHERE a.application_id = ",
        )
        .value(app.application_id.get())
        .sql(") ORDER BY c.sort_key, c.id")
}

pub(super) fn categories(
    connection: &mut AnyConnection,
    app: AppScope,
    parent: Option<CategoryId>,
    limit: Option<u32>,
) -> Result<Vec<StorefrontCategory>, Abort<StoreError>> {
    let statement = parent.map_or_else(|| roots(app), |parent| children(app, parent));
    let statement = match limit {
        Some(limit) => statement.sql(" LIMIT ").value(limit),
        None => statement,
    };
    let rows: Vec<CategoryRow> = statement.rows(connection)?;
    Ok(unreadable::rows("categories", rows, |row| row.id, StorefrontCategory::try_from)?)
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = brands)]
struct BrandRow {
    id: i64,
    name: String,
    photo: Option<String>,
    created_at: NaiveDateTime,
}

impl TryFrom<BrandRow> for StorefrontBrand {
    type Error = StoreError;

    fn try_from(row: BrandRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            photo: row.photo.as_deref().map(photo).transpose()?,
            created_at: decode::moment(row.created_at),
        })
    }
}

pub(super) fn brands(
    connection: &mut AnyConnection,
    app: AppScope,
    limit: Option<u32>,
) -> Result<Vec<StorefrontBrand>, Abort<StoreError>> {
    let rows: Vec<BrandRow> = application_brands::table
        .inner_join(brands::table.on(brands::id.eq(application_brands::brand_id)))
        .filter(application_brands::application_id.eq(app.application_id.get()))
        .order((application_brands::priority.desc(), application_brands::brand_id))
        .limit(limit.map_or(i64::MAX, i64::from))
        .select(BrandRow::as_select())
        .load(connection)?;
    Ok(unreadable::rows("brands", rows, |row| row.id, StorefrontBrand::try_from)?)
}
