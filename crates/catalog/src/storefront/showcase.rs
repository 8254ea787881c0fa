use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{AppScope, Clock, CountryId, HtmlCleaner, Link, Name, Prose, SafeHtml, SlideId, StoreError};

use super::Tag;
use super::ports::Showcase;
use crate::model::PhotoUrl;

/// A country of the system-wide dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Country {
    /// Its number.
    pub id: CountryId,
    /// Its name.
    pub name: Name,
    /// Its flag.
    pub photo: Option<PhotoUrl>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// A picture of an application that leads somewhere. Its description is stored as it was written (`Slide<Prose>`) and
/// cleaned before a customer gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slide<Html = SafeHtml> {
    /// Its number.
    pub id: SlideId,
    /// What stands on it.
    pub title: Name,
    /// HTML.
    pub description: Option<Html>,
    /// The picture.
    pub photo: Option<PhotoUrl>,
    /// Where it leads.
    pub link: Option<Link>,
    /// Its place; slides of one place by number.
    pub position: i64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// What a storefront shows beside its products.
pub struct ShowcaseService {
    /// What is shown.
    pub showcase: Arc<dyn Showcase>,
    /// Cleans what staff wrote as HTML.
    pub cleaner: Arc<dyn HtmlCleaner>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl ShowcaseService {
    /// Every country of the system by number.
    pub async fn countries(&self) -> Result<Vec<Country>, StoreError> {
        self.showcase.countries().await
    }

    /// Every tag of the application's project, whether the application shows products with it or not.
    pub async fn tags(&self, app: AppScope) -> Result<Vec<Tag>, StoreError> {
        self.showcase.tags(app).await
    }

    /// The slides of the application that are shown now.
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
