//! Storefront content besides the products: slides, countries, categories and brands. Also the next time at which it
//! changes without a write.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::Tag;
use kontor_catalog::storefront::ports::Showcase;
use kontor_catalog::storefront::{Country, Slide, StorefrontBrand, StorefrontCategory};
use kontor_kernel::{AppScope, CategoryId, ProjectId, Prose, StoreError};

use super::brands::TagRow;
use super::storefront::{photo, reference};
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::schema::{application_brands, brands, countries, slides, tags};
use crate::statement::{Statement, by_place};
use crate::{decode, unreadable};

type CountryRow = (i64, String, Option<String>, NaiveDateTime);

fn country((id, name, picture, created_at): CountryRow) -> Result<Country, StoreError> {
    Ok(Country {
        id: decode::id(id)?,
        name: decode::owned(name)?,
        photo: picture.as_deref().map(photo).transpose()?,
        created_at: decode::moment(created_at),
    })
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = slides)]
struct SlideRow {
    id: i64,
    title: String,
    description: Option<String>,
    photo: Option<String>,
    link: Option<String>,
    position: i64,
    created_at: NaiveDateTime,
}

impl TryFrom<SlideRow> for Slide<Prose> {
    type Error = StoreError;

    fn try_from(row: SlideRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            title: decode::owned(row.title)?,
            description: decode::optional_text(row.description.as_deref())?,
            photo: row.photo.as_deref().map(photo).transpose()?,
            link: decode::link(row.link.as_deref()),
            position: row.position,
            created_at: decode::moment(row.created_at),
        })
    }
}

#[async_trait]
impl Showcase for Database {
    async fn countries(&self) -> Result<Vec<Country>, StoreError> {
        self.expecting(Extent::Page)
            .read(|connection| {
                let rows: Vec<CountryRow> = countries::table.order(countries::id).load(connection)?;
                Ok(unreadable::rows("countries", rows, |row| row.0, country)?)
            })
            .await
    }

    async fn tags(&self, app: AppScope) -> Result<Vec<Tag>, StoreError> {
        self.expecting(Extent::Page)
            .read(move |connection| {
                let rows: Vec<TagRow> = tags::table
                    .filter(tags::project_id.eq(app.project_id.get()))
                    .order(tags::id)
                    .select(TagRow::as_select())
                    .load(connection)?;
                Ok(unreadable::rows("tags", rows, |row| row.id, Tag::try_from)?)
            })
            .await
    }

    async fn slides(&self, app: AppScope, at: DateTime<Utc>) -> Result<Vec<Slide<Prose>>, StoreError> {
        let now = at.naive_utc();
        self.expecting(Extent::Page)
            .read(move |connection| {
                let rows: Vec<SlideRow> = slides::table
                    .filter(slides::project_id.eq(app.project_id.get()))
                    .filter(slides::application_id.eq(app.application_id.get()))
                    .filter(slides::is_active.eq(true))
                    .filter(slides::starts_at.is_null().or(slides::starts_at.le(now)))
                    .filter(slides::ends_at.is_null().or(slides::ends_at.gt(now)))
                    .order((slides::position, slides::id))
                    .select(SlideRow::as_select())
                    .load(connection)?;
                Ok(unreadable::rows("slides", rows, |row| row.id, Slide::try_from)?)
            })
            .await
    }
}

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

/// Returns the next time at which an automatic discount or a slide starts or ends.
fn next(project: ProjectId, at: NaiveDateTime) -> Statement {
    let side = |column: &'static str, table: &'static str, active: &'static str| {
        Statement::new("SELECT min(t.")
            .sql(column)
            .sql(") AS moment FROM ")
            .sql(table)
            .sql(" t WHERE t.project_id = ")
            .value(project.get())
            .sql(active)
            .sql(" AND t.")
            .sql(column)
            .sql(" > ")
            .value(at)
    };
    let (applies, shows) = (" AND t.status = 'active' AND t.code IS NULL", " AND t.is_active = TRUE");
    Statement::new("SELECT min(s.moment) FROM (")
        .then(side("starts_at", "discounts", applies))
        .sql(" UNION ALL ")
        .then(side("ends_at", "discounts", applies))
        .sql(" UNION ALL ")
        .then(side("starts_at", "slides", shows))
        .sql(" UNION ALL ")
        .then(side("ends_at", "slides", shows))
        .sql(") AS s")
}

impl Database {
    /// Returns the next time at which the project's storefronts change without a write; `None` unless a discount or a
    /// slide starts or ends.
    pub async fn next_change(
        &self,
        project: ProjectId,
        at: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let next: Option<NaiveDateTime> = next(project, at.naive_utc()).scalar(connection)?;
                Ok::<_, Abort<StoreError>>(next.map(decode::moment))
            })
            .await
    }
}
