use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    Edit, HtmlCleaner, Line, Name, PageId, PageTagId, PageTypeId, PhotoUrl, Prose, Record, Resource, SafeHtml, UserId,
    readable_text,
};

use super::Slug;
use crate::PageRefusal;

/// A page: an article, a news item, the text of an offer. Pages are the project's; every application shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The number of the page.
    pub id: PageId,
    /// What is said about it.
    pub content: PageContent,
    /// Its type, with that one's name.
    pub page_type: Option<(PageTypeId, Name)>,
    /// Its tags, in the order in which they were given.
    pub tags: Vec<PageTag>,
    /// The employee who wrote it, with their name.
    pub author: Option<(UserId, String)>,
    /// How often it was looked at.
    pub views_count: u64,
    /// Raised by every change that staff make.
    pub version: u64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// What a page says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageContent {
    /// What it is called in addresses, unique in the project.
    pub slug: Slug,
    /// Its title.
    pub title: Name,
    /// What it is about.
    pub description: Option<Line<500>>,
    /// Its picture in lists.
    pub preview: Option<PhotoUrl>,
    /// HTML as staff wrote it.
    pub html: Option<Prose>,
    /// Whether customers see it.
    pub is_active: bool,
    /// Whether it is shown in the place of pages that are not there. One of a project is, at most.
    pub is_fallback: bool,
}

/// A tag of pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageTag {
    /// The number of the tag.
    pub id: PageTagId,
    /// Its name, unique in the project in any case.
    pub name: TagName,
    /// When it was first used.
    pub created_at: DateTime<Utc>,
}

/// The name of a tag: one line of at most 100 characters.
pub type TagName = Line<100>;

/// More tags than a page may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have at most {} tags", TagNames::MAX)]
pub struct TooManyTags;

/// The tags of a page by their names, each once, at most 20.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TagNames(Vec<TagName>);

impl TagNames {
    /// The most tags of a page.
    pub const MAX: usize = 20;

    /// Leaves out names that come again, in whatever case, and counts the others.
    pub fn new(names: Vec<TagName>) -> Result<Self, TooManyTags> {
        let mut own: Vec<TagName> = Vec::new();
        for name in names {
            if !own.iter().any(|known| known.key() == name.key()) {
                own.push(name);
            }
        }
        if own.len() > Self::MAX { Err(TooManyTags) } else { Ok(Self(own)) }
    }

    /// The names.
    pub fn names(&self) -> &[TagName] {
        &self.0
    }
}

impl Record for Page {
    type Id = PageId;
    type Draft = PageDraft;
    type Change = PageChange;
    type Refusal = PageRefusal;
}

impl Audited for Page {
    const RESOURCE: Resource = Resource::Pages;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        let content = &self.content;
        let tags: Vec<&str> = self.tags.iter().map(|tag| tag.name.as_str()).collect();
        vec![
            ("slug", Some(content.slug.to_string())),
            ("title", Some(content.title.to_string())),
            ("description", content.description.as_ref().map(ToString::to_string)),
            ("preview", content.preview.as_ref().map(ToString::to_string)),
            ("content", content.html.as_deref().map(str::to_owned)),
            ("page_type_id", self.page_type.as_ref().map(|(id, _)| id.to_string())),
            ("tags", (!tags.is_empty()).then(|| tags.join(", "))),
            ("is_active", Some(content.is_active.to_string())),
            ("is_fallback", Some(content.is_fallback.to_string())),
        ]
    }
}

/// What staff say about a new page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageDraft {
    /// What it is called in addresses; made from the title when it is left out.
    pub slug: Option<Slug>,
    /// Its title.
    pub title: Name,
    /// What it is about.
    pub description: Option<Line<500>>,
    /// Its picture in lists.
    pub preview: Option<PhotoUrl>,
    /// HTML.
    pub html: Option<Prose>,
    /// Its type.
    pub page_type_id: Option<PageTypeId>,
    /// Its tags. Those that are new to the project are made.
    pub tags: TagNames,
    /// Whether customers see it.
    pub is_active: bool,
    /// Whether it is shown in the place of pages that are not there; then no other is.
    pub is_fallback: bool,
}

/// What staff change about a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageChange {
    /// What it is called in addresses. Another title leaves it as it is.
    pub slug: Edit<Slug>,
    /// Its title.
    pub title: Edit<Name>,
    /// What it is about.
    pub description: Edit<Option<Line<500>>>,
    /// Its picture in lists.
    pub preview: Edit<Option<PhotoUrl>>,
    /// HTML.
    pub html: Edit<Option<Prose>>,
    /// Its type.
    pub page_type_id: Edit<Option<PageTypeId>>,
    /// Its tags, in the place of all that it has.
    pub tags: Edit<TagNames>,
    /// Whether customers see it.
    pub is_active: Edit<bool>,
    /// Whether it is shown in the place of pages that are not there.
    pub is_fallback: Edit<bool>,
}

impl PageContent {
    /// What people read of the page, which is what it is found by.
    pub fn readable(&self) -> [String; 3] {
        let text = self.html.as_deref().map(readable_text);
        let description = self.description.as_ref().map(ToString::to_string);
        [self.title.to_string(), description.unwrap_or_default(), text.unwrap_or_default()]
    }

    /// What is left of it when a cleaner has been over it.
    pub fn cleaned(&self, cleaner: &dyn HtmlCleaner) -> Option<SafeHtml> {
        self.html.as_deref().and_then(|html| SafeHtml::of(html, cleaner))
    }
}

/// A type of pages, as customers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageType {
    /// The number of the type.
    pub id: PageTypeId,
    /// Its name.
    pub name: Name,
    /// Its picture.
    pub photo: Option<String>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// Which pages customers ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageFilter {
    /// Of this type.
    pub page_type_id: Option<PageTypeId>,
    /// With these words in title, description or text.
    pub query: Option<PageQueryText>,
}

/// Why a text is not looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 3 to 255 characters")]
pub struct InvalidPageQuery;

/// What is looked for in pages: one line of 3 to 255 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageQueryText(Line<255>);

impl PageQueryText {
    /// Trims and checks.
    pub fn parse(text: &str) -> Result<Self, InvalidPageQuery> {
        let line = Line::parse(text).map_err(|_| InvalidPageQuery)?;
        if line.chars().count() < 3 { Err(InvalidPageQuery) } else { Ok(Self(line)) }
    }

    /// The text.
    pub fn line(&self) -> &Line<255> {
        &self.0
    }
}

/// In which order customers see pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum PageOrder {
    /// The oldest first.
    DateAsc,
    /// The newest first.
    #[default]
    DateDesc,
    /// The one least looked at first.
    PopularityAsc,
    /// The one most looked at first.
    PopularityDesc,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_come_once_and_are_few() {
        let names = |count: usize| (0..count).map(|one| TagName::parse(&format!("t{one}")).unwrap()).collect();
        assert_eq!(TagNames::new(names(21)), Err(TooManyTags));
        assert!(TagNames::new(names(20)).is_ok());
        let twice = ["Новости", "НОВОСТИ", "a"].map(|name| TagName::parse(name).unwrap());
        let own = TagNames::new(twice.into()).unwrap();
        assert_eq!(own.names().iter().map(TagName::as_str).collect::<Vec<_>>(), ["Новости", "a"]);
    }

    #[test]
    fn a_query_has_three_letters() {
        assert_eq!(PageQueryText::parse("ёж"), Err(InvalidPageQuery));
        assert_eq!(PageQueryText::parse(" ab "), Err(InvalidPageQuery));
        assert!(PageQueryText::parse("ежи").is_ok());
        assert_eq!(PageQueryText::parse(&"x".repeat(256)), Err(InvalidPageQuery));
    }
}
