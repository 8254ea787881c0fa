//! Storefront content besides the products.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::Tag;
use kontor_catalog::storefront::ports::Showcase;
use kontor_catalog::storefront::{Country, Slide};
use kontor_kernel::{AppScope, Prose, StoreError};

use super::storefront::photo;
use super::tags::TagRow;
use crate::database::{Database, Extent};
use crate::decode;
use crate::schema::{countries, slides, tags};
use crate::unreadable;

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
