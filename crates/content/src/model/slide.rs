use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    ApplicationId, Edit, EndsBeforeStart, Link, LinkError, Name, Period, PhotoUrl, Prose, Resource, SlideId,
};

use super::ApplicationPart;

/// Reason why a text is not the link of a slide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SlideLinkError {
    /// The link has another beginning.
    #[error("must begin with https://, http:// or /")]
    Beginning,
    /// The text is not a link.
    #[error(transparent)]
    Link(#[from] LinkError),
}

/// Link target of a slide: an `http` or `https` address, or a path of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlideLink(Link);

impl SlideLink {
    /// Maximum length, in characters.
    pub const MAX: usize = Link::MAX;

    /// Trims and checks the text.
    pub fn parse(text: &str) -> Result<Self, SlideLinkError> {
        let link = Link::parse(text)?;
        let fits = ["https://", "http://", "/"].iter().any(|start| link.as_str().starts_with(start));
        if fits { Ok(Self(link)) } else { Err(SlideLinkError::Beginning) }
    }

    /// Returns the link.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for SlideLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<SlideLink> for String {
    fn from(link: SlideLink) -> Self {
        link.0.into()
    }
}

/// Slide of an application: a picture with a link, shown to customers for a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slide {
    /// Identifier.
    pub id: SlideId,
    /// Application that shows it.
    pub application_id: ApplicationId,
    /// Content.
    pub content: SlideContent,
    /// Position in the application, lowest first.
    pub position: i64,
    /// Version, incremented by every change.
    pub version: u64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// Content of a slide, and the fields of a new slide. A new slide is placed last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlideContent {
    /// Title on the slide.
    pub title: Name,
    /// HTML as staff wrote it.
    pub description: Option<Prose>,
    /// Picture.
    pub photo: Option<PhotoUrl>,
    /// Link target.
    pub link: Option<SlideLink>,
    /// `true` if customers see it in its period.
    pub is_active: bool,
    /// Period in which customers see it.
    pub period: Period,
}

/// Change of a slide.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SlideChange {
    /// Title on the slide.
    pub title: Edit<Name>,
    /// HTML.
    pub description: Edit<Option<Prose>>,
    /// Picture.
    pub photo: Edit<Option<PhotoUrl>>,
    /// Link target.
    pub link: Edit<Option<SlideLink>>,
    /// `true` if customers see it in its period.
    pub is_active: Edit<bool>,
    /// Start of the period.
    pub starts_at: Edit<Option<DateTime<Utc>>>,
    /// End of the period, exclusive.
    pub ends_at: Edit<Option<DateTime<Utc>>>,
}

impl SlideContent {
    /// Returns the content after a change. Refuses a period that ends before it begins.
    pub fn changed(self, change: &SlideChange) -> Result<Self, EndsBeforeStart> {
        let (starts_at, ends_at) = (self.period.starts_at(), self.period.ends_at());
        Ok(Self {
            title: change.title.clone().or(self.title),
            description: change.description.clone().or(self.description),
            photo: change.photo.clone().or(self.photo),
            link: change.link.clone().or(self.link),
            is_active: change.is_active.or(self.is_active),
            period: Period::new(change.starts_at.or(starts_at), change.ends_at.or(ends_at))?,
        })
    }
}

impl Audited for Slide {
    const RESOURCE: Resource = Resource::Slides;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        let content = &self.content;
        let moment = |at: Option<DateTime<Utc>>| at.map(|at| at.to_rfc3339());
        vec![
            ("title", Some(content.title.to_string())),
            ("description", content.description.as_deref().map(str::to_owned)),
            ("photo", content.photo.as_ref().map(ToString::to_string)),
            ("link", content.link.as_ref().map(ToString::to_string)),
            ("position", Some(self.position.to_string())),
            ("is_active", Some(content.is_active.to_string())),
            ("starts_at", moment(content.period.starts_at())),
            ("ends_at", moment(content.period.ends_at())),
        ]
    }
}

impl ApplicationPart for Slide {
    type Id = SlideId;
    type Draft = SlideContent;
    type Change = SlideChange;
    const MAX_PER_APPLICATION: usize = 200;

    fn application(&self) -> ApplicationId {
        self.application_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    #[test]
    fn a_link_leads_to_the_web_or_into_the_site() {
        for link in ["https://shop.example/sale", "http://shop.example", "/sale", "//cdn.example/x"] {
            assert_eq!(SlideLink::parse(link).unwrap().as_str(), link);
        }
        for other in ["sale", "#top", "mailto:a@b.example", "tel:1", "HTTPS://shop.example"] {
            assert_eq!(SlideLink::parse(other), Err(SlideLinkError::Beginning), "{other}");
        }
        assert!(matches!(SlideLink::parse("javascript:x"), Err(SlideLinkError::Link(LinkError::Scheme))));
    }

    #[test]
    fn a_change_cannot_end_a_slide_before_it_begins() {
        let at = |seconds| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let content = SlideContent {
            title: Name::parse("Sale").unwrap(),
            description: None,
            photo: None,
            link: Some(SlideLink::parse("/sale").unwrap()),
            is_active: true,
            period: Period::new(Some(at(10)), None).unwrap(),
        };
        let ends = |seconds| SlideChange { ends_at: Edit::Set(Some(at(seconds))), ..SlideChange::default() };
        assert_eq!(content.clone().changed(&ends(10)), Err(EndsBeforeStart));
        let shown = content.clone().changed(&ends(20)).unwrap();
        assert_eq!((shown.period.starts_at(), shown.period.ends_at()), (Some(at(10)), Some(at(20))));
        let bare = SlideChange { link: Edit::Set(None), is_active: Edit::Set(false), ..SlideChange::default() };
        let bare = content.changed(&bare).unwrap();
        assert_eq!((bare.title.as_str(), bare.link, bare.is_active), ("Sale", None, false));
    }
}
