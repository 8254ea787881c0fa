use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{AppScope, Clock, CountryId, HtmlCleaner, Link, Name, Prose, SafeHtml, SlideId, StoreError};

use super::Tag;
use super::ports::Showcase;
use crate::model::PhotoUrl;

/// Country of the system-wide dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Country {
    /// Identifier.
    pub id: CountryId,
    /// Name.
    pub name: Name,
    /// Flag.
    pub photo: Option<PhotoUrl>,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
}

/// Slide of an application: a picture with a link. Its description is stored as staff wrote it (`Slide<Prose>`) and
/// cleaned for customers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slide<Html = SafeHtml> {
    /// Identifier.
    pub id: SlideId,
    /// Title on the slide.
    pub title: Name,
    /// HTML.
    pub description: Option<Html>,
    /// Picture.
    pub photo: Option<PhotoUrl>,
    /// Link target.
    pub link: Option<Link>,
    /// Position; slides with the same position are ordered by identifier.
    pub position: i64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
}

/// Storefront content other than products.
pub struct ShowcaseService {
    /// Source of the content.
    pub showcase: Arc<dyn Showcase>,
    /// Cleans HTML of staff.
    pub cleaner: Arc<dyn HtmlCleaner>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl ShowcaseService {
    /// Returns every country of the system, by identifier.
    pub async fn countries(&self) -> Result<Vec<Country>, StoreError> {
        self.showcase.countries().await
    }

    /// Returns every tag of the application's project, even if no shown product has it.
    pub async fn tags(&self, app: AppScope) -> Result<Vec<Tag>, StoreError> {
        self.showcase.tags(app).await
    }

    /// Returns the slides of the application that are shown now.
    pub async fn slides(&self, app: AppScope) -> Result<Vec<Slide>, StoreError> {
        let slides = self.showcase.slides(app, self.clock.now()).await?;
        let shown = |slide: Slide<Prose>| Slide {
            id: slide.id,
            title: slide.title,
            description: slide.description.and_then(|html| SafeHtml::of(&html, &*self.cleaner)),
            photo: slide.photo,
            link: slide.link,
            position: slide.position,
            created_at: slide.created_at,
        };
        Ok(slides.into_iter().map(shown).collect())
    }
}
