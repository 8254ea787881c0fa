use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_content::model::{ApplicationPart as _, Slide, SlideChange, SlideContent, SlideLink, TreeRefusal};
use kontor_content::{PartError, PartRefusal};
use kontor_kernel::{ApplicationId, Period, PhotoUrl, ProjectId, ProjectScoped, Stamp, StoreError};

use super::parts::{self, OrderedPart, StoredPart, next_position};
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::listing::{Source, unsearched};
use crate::records::StoredRecord;
use crate::schema::{keyed, slides};
use crate::statement::{Statement, by_place};

by_place! {
    pub(super) struct SlideRow {
        id: i64,
        project_id: i64,
        application_id: i64,
        title: String,
        description: Option<String>,
        photo: Option<String>,
        link: Option<String>,
        position: i64,
        is_active: bool,
        starts_at: Option<NaiveDateTime>,
        ends_at: Option<NaiveDateTime>,
        version: i64,
        created_at: NaiveDateTime,
        updated_at: NaiveDateTime,
    }
}

const SLIDES: &str = "SELECT r.id, r.project_id, r.application_id, r.title, r.description, r.photo, r.link, r.position, \
    r.is_active, r.starts_at, r.ends_at, r.version, r.created_at, r.updated_at FROM slides r WHERE r.id";

impl TryFrom<SlideRow> for Slide {
    type Error = StoreError;

    fn try_from(row: SlideRow) -> Result<Self, StoreError> {
        let period = Period::new(row.starts_at.map(decode::moment), row.ends_at.map(decode::moment));
        Ok(Self {
            id: decode::id(row.id)?,
            application_id: decode::id(row.application_id)?,
            content: SlideContent {
                title: decode::owned(row.title)?,
                description: decode::optional_text(row.description.as_deref())?,
                photo: decode::optional_text(row.photo.as_deref())?,
                // Like an unsafe link of a block, it is dropped.
                link: row.link.and_then(|link| SlideLink::parse(&link).ok()),
                is_active: row.is_active,
                period: period.map_err(StoreError::corrupt)?,
            },
            position: row.position,
            version: decode::count(row.version)?,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

impl StoredRecord for Slide {
    const TABLE: &'static str = "slides";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        Ok(parts::load_many(connection, &[id])?.pop())
    }
}

/// Selects the slides of an application.
fn of_application(project: ProjectId, application: ApplicationId) -> Statement {
    let own = Statement::new(" FROM slides WHERE project_id = ").value(project.get());
    own.sql(" AND application_id = ").value(application.get())
}

impl StoredPart for Slide {
    const SOURCE: Source = Source {
        from: "slides r",
        id: "r.id",
        fields: &[
            ("id", "r.id"),
            ("position", "r.position"),
            ("is_active", "r.is_active"),
            ("created_at", "r.created_at"),
            ("updated_at", "r.updated_at"),
        ],
        search: unsearched,
    };
    const SELECT: &'static str = SLIDES;

    type Row = SlideRow;

    fn decode_row(row: SlideRow) -> (i64, i64, Result<Self, StoreError>) {
        (row.id, row.project_id, row.try_into())
    }

    fn insert(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        application: ApplicationId,
        draft: &SlideContent,
    ) -> Result<i64, Abort<PartError>> {
        let beside = of_application(stamp.project_id, application);
        let count: i64 = Statement::new("SELECT count(*)").then(beside.clone()).scalar(connection)?;
        if usize::try_from(count).is_ok_and(|count| count >= Self::MAX_PER_APPLICATION) {
            return Err(Abort::refused(PartRefusal::Tree(TreeRefusal::Full)));
        }
        let id = diesel::insert_into(slides::table)
            .values((
                (
                    slides::project_id.eq(stamp.project_id.get()),
                    slides::application_id.eq(application.get()),
                    slides::title.eq(draft.title.as_str()),
                    slides::description.eq(draft.description.as_deref()),
                    slides::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                    slides::link.eq(draft.link.as_ref().map(SlideLink::as_str)),
                    slides::position.eq(next_position(connection, beside)?),
                ),
                (
                    slides::is_active.eq(draft.is_active),
                    slides::starts_at.eq(draft.period.starts_at().map(|at| at.naive_utc())),
                    slides::ends_at.eq(draft.period.ends_at().map(|at| at.naive_utc())),
                    slides::created_at.eq(stamp.at.naive_utc()),
                    slides::updated_at.eq(stamp.at.naive_utc()),
                ),
            ))
            .returning(slides::id)
            .get_result(connection)?;
        Ok(id)
    }

    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        before: &Self,
        change: &SlideChange,
    ) -> Result<usize, Abort<PartError>> {
        let content = before.content.clone().changed(change);
        let content = content.map_err(|refused| Abort::refused(PartRefusal::from(refused)))?;
        let changed = diesel::update(keyed!(slides, before.id.get(), stamp.project_id))
            .set((
                slides::title.eq(content.title.as_str()),
                slides::description.eq(content.description.as_deref()),
                slides::photo.eq(content.photo.as_ref().map(PhotoUrl::as_str)),
                slides::link.eq(content.link.as_ref().map(SlideLink::as_str)),
                slides::is_active.eq(content.is_active),
                slides::starts_at.eq(content.period.starts_at().map(|at| at.naive_utc())),
                slides::ends_at.eq(content.period.ends_at().map(|at| at.naive_utc())),
                slides::version.eq(slides::version + 1),
                slides::updated_at.eq(stamp.at.naive_utc()),
            ))
            .execute(connection)?;
        Ok(changed)
    }
}

impl OrderedPart for Slide {
    fn siblings(&self, stamp: &Stamp) -> Statement {
        of_application(stamp.project_id, self.application_id)
    }
}
