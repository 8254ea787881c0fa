//! Slides of an application.

use actix_web::web::Path;
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_content::model::{Slide, SlideChange, SlideContent};
use kontor_content::{PartOrderService, PartService};
use kontor_kernel::listing::Sort;
use kontor_kernel::{MoveDirection, Period};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::envelope::{Created, created, list, one};
use kontor_web::wire::{self, InputErrors, PhotoRecord, change_body};
use kontor_web::{ApiError, Body, HistoryList, PathId, Service, SignedInStaff};

handlers! {
    fn table_routes; PartService<Slide>, "Content";

    /// List the slides of an application as a table
    table "/api/tables/applications/{id}/slides" as list_slides_table(SlideParams) = page(id) -> TABLE;
}

handlers! {
    fn part_routes; PartService<Slide>, "Content";

    /// List the slides of an application
    ///
    /// Ordered as in the application. Includes slides that customers do not see.
    list "/api/applications/{id}/slides" as list_slides = page(id, rows SlideParams TABLE 100) -> StaffSlideList;

    /// Get a slide
    read "/api/applications/{id}/slides/{slide_id}" as show_slide = read(ids) -> StaffSlideResponse;

    /// Update a slide
    ///
    /// Fields that are not sent keep their values.
    update "/api/applications/{id}/slides/{slide_id}" as update_slide(ChangedSlide) = update(ids, input)
        -> StaffSlideResponse;

    /// Delete a slide
    delete "/api/applications/{id}/slides/{slide_id}" as delete_slide = delete(ids) -> "The slide was deleted.";

    /// List the history of a slide
    ///
    /// Newest first.
    list "/api/applications/{id}/slides/{slide_id}/history" as list_slide_history = history(ids, page) -> HistoryList;
}

handlers! {
    fn move_routes; PartOrderService<Slide>, "Content";

    /// Move a slide up
    ///
    /// Moves it one position up in the application. The first slide is not changed.
    post "/api/applications/{id}/slides/{slide_id}/up" as move_slide_up = shift(ids, {MoveDirection::Up})
        -> StaffSlideResponse;

    /// Move a slide down
    ///
    /// Moves it one position down in the application. The last slide is not changed.
    post "/api/applications/{id}/slides/{slide_id}/down" as move_slide_down = shift(ids, {MoveDirection::Down})
        -> StaffSlideResponse;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    part_routes(config);
    move_routes(config);
    config.service(create_slide);
}

#[derive(Serialize, ToSchema)]
struct StaffSlideRecord {
    id: i64,
    title: String,
    /// HTML as written by staff, not sanitized.
    description: Option<String>,
    photo: Option<PhotoRecord>,
    /// URL or a path of the site.
    link: Option<String>,
    /// Position among the slides of the application, lowest first.
    position: i64,
    /// `true` if customers see the slide from `starts_at` until `ends_at`.
    is_active: bool,
    /// `null` if the slide is shown at once.
    starts_at: Option<DateTime<Utc>>,
    /// End, exclusive. `null` if the slide is shown without end.
    ends_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Slide> for StaffSlideRecord {
    fn from(slide: Slide) -> Self {
        let content = slide.content;
        Self {
            id: slide.id.get(),
            title: content.title.into(),
            description: content.description.map(Into::into),
            photo: content.photo.map(Into::into),
            link: content.link.map(Into::into),
            position: slide.position,
            is_active: content.is_active,
            starts_at: content.period.starts_at(),
            ends_at: content.period.ends_at(),
            created_at: slide.created_at,
            updated_at: slide.updated_at,
        }
    }
}

one!(/// Slide.
    StaffSlideResponse { slide: StaffSlideRecord });
list!(/// Slides of an application.
    StaffSlideList { slides: [StaffSlideRecord], slides_count of all, pagination });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewSlide {
    title: wire::Name,
    /// HTML. Customers get it without scripts, styles and frames of other sites.
    #[deserr(default)]
    description: Option<wire::Prose>,
    /// URL of a picture.
    #[deserr(default)]
    photo: Option<wire::PhotoUrl>,
    #[deserr(default)]
    link: Option<wire::SlideLink>,
    /// `true` if customers see the slide from `starts_at` until `ends_at`. `true` by default.
    #[deserr(default)]
    is_active: Option<wire::Flag>,
    /// Start. Without it, the slide is shown at once.
    #[deserr(default)]
    starts_at: Option<wire::Moment>,
    /// End, exclusive. Without it, the slide is shown without end.
    #[deserr(default)]
    ends_at: Option<wire::Moment>,
}

impl NewSlide {
    /// Returns the content of the slide.
    fn content(self) -> Result<SlideContent, ApiError> {
        let period = Period::new(self.starts_at.map(|at| at.0), self.ends_at.map(|at| at.0));
        Ok(SlideContent {
            title: self.title.0,
            description: self.description.map(|html| html.0),
            photo: self.photo.map(|url| url.0),
            link: self.link.map(|link| link.0),
            is_active: self.is_active.is_none_or(|flag| flag.0),
            period: period.map_err(|error| ApiError::invalid("ends_at", error))?,
        })
    }
}

/// Create a slide
///
/// The slide is added last. An application can have at most 200 slides.
#[utoipa::path(tag = "Content", request_body = NewSlide, responses((status = 201, body = StaffSlideResponse)))]
#[post("/api/applications/{id}/slides")]
async fn create_slide(
    staff: SignedInStaff,
    service: Service<PartService<Slide>>,
    id: Path<PathId>,
    body: Body<NewSlide>,
) -> Created<StaffSlideResponse> {
    created(service.create(&staff, id.parse()?, body.0.content()?).await?)
}

change_body! {
    ChangedSlide => SlideChange {
        title: wire::Name,
        description: wire::Prose | null,
        photo: wire::PhotoUrl | null,
        link: wire::SlideLink | null,
        is_active: wire::Flag,
        starts_at: wire::Moment | null,
        /// End, exclusive. `null` removes it.
        ends_at: wire::Moment | null,
    }
}

/// Table of `GET /api/tables/applications/{id}/slides`.
const TABLE: Table<Slide> = Table {
    id: 53,
    resource: "slides",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |slide| Cell::plain(slide.id.get())),
        Column::with_icon("title", "Title", |slide| Cell::Linked {
            value: slide.content.title.as_str().into(),
            icon: slide.content.photo.as_ref().map(ToString::to_string),
            link: Some(format!("/api/applications/{}/slides/{}", slide.application_id, slide.id)),
        }),
        Column::new("link", "Link", |slide| Cell::plain(slide.content.link.as_ref().map(ToString::to_string))),
        Column::new("position", "Position", |slide| Cell::plain(slide.position)),
        Column::new("is_active", "Shown", |slide| Cell::plain(slide.content.is_active)),
        Column::new("starts_at", "From", |slide| Cell::moment(slide.content.period.starts_at())),
        Column::new("ends_at", "Until", |slide| Cell::moment(slide.content.period.ends_at())),
        Column::new("created_at", "Created", |slide| Cell::moment(slide.created_at)),
        Column::new("updated_at", "Changed", |slide| Cell::moment(slide.updated_at)),
    ],
    sorts: &["id", "position", "created_at", "updated_at"],
    filters: &[Filter::flag("is_active", "Whether customers see it in its period.")],
    search: None,
    period: Some("created_at"),
    order: Sort::ascending("position"),
};

list_params! {
    /// Query parameters of `GET /api/applications/{id}/slides` and `GET /api/tables/applications/{id}/slides`.
    SlideParams of TABLE
}
