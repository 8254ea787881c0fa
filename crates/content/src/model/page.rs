//! Content pages, their slugs, and the text of their HTML, for search.

use std::ops::Deref;

use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    Edit, HtmlCleaner, Line, Name, PageId, PageTagId, PageTypeId, PhotoUrl, Prose, Record, Resource, SafeHtml, UserId,
    wraps_text,
};

use crate::PageRefusal;

/// Elements whose text is not shown.
const HIDDEN_ELEMENTS: [&str; 2] = ["script", "style"];

/// Returns the text between the tags, for search. A tag separates words, as most tags do on a page. HTML that is shown
/// must pass a cleaner instead.
fn readable_text(html: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(html.len()), html);
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        rest = after_tag(tag);
        if let Some(unread) = HIDDEN_ELEMENTS.into_iter().find(|name| opens(tag, name)) {
            let end =
                rest.match_indices("</").find(|(place, _)| rest.get(place + 2..).is_some_and(|tag| opens(tag, unread)));
            rest = end.and_then(|(place, _)| rest.get(place..)).unwrap_or_default();
        }
    }
    text.push_str(rest);
    let signs = [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    signs.into_iter().fold(text, |text, (written, read)| text.replace(written, read))
}

/// Returns `true` if the tag has this name.
fn opens(tag: &str, name: &str) -> bool {
    let own = tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    own && !tag.get(name.len()..).is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
}

/// Returns the text after a tag. Quoted attribute values may contain `>`.
fn after_tag(tag: &str) -> &str {
    if let Some(comment) = tag.strip_prefix("!--") {
        return comment.split_once("-->").map(|(_, rest)| rest).unwrap_or_default();
    }
    let mut quote = None;
    for (place, sign) in tag.char_indices() {
        match (quote, sign) {
            (None, '>') => return tag.get(place + 1..).unwrap_or_default(),
            (None, '"' | '\'') => quote = Some(sign),
            (Some(open), _) if open == sign => quote = None,
            _ => {}
        }
    }
    ""
}

/// Content page: an article, a news item, the text of an offer. It belongs to the project, and every application shows
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Identifier.
    pub id: PageId,
    /// Content.
    pub content: PageContent,
    /// Type, with its name.
    pub page_type: Option<(PageTypeId, Name)>,
    /// Tags, in the given order.
    pub tags: Vec<PageTag>,
    /// Employee who wrote it, with their name.
    pub author: Option<(UserId, String)>,
    /// Number of views.
    pub views_count: u64,
    /// Version, incremented by every change of staff.
    pub version: u64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// Content of a content page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageContent {
    /// Slug, unique in the project.
    pub slug: Slug,
    /// Title.
    pub title: Name,
    /// Subject, in words.
    pub description: Option<Line<500>>,
    /// Picture for lists.
    pub preview: Option<PhotoUrl>,
    /// HTML as staff wrote it.
    pub html: Option<Prose>,
    /// `true` if customers see it.
    pub is_active: bool,
    /// `true` if it is shown instead of pages that do not exist. At most one page of a project is.
    pub is_fallback: bool,
}

/// Tag of content pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageTag {
    /// Identifier of the tag.
    pub id: PageTagId,
    /// Name, unique in the project, compared without regard to case.
    pub name: TagName,
    /// Time of the first use.
    pub created_at: DateTime<Utc>,
}

/// Name of a tag: one line of at most 100 characters.
pub type TagName = Line<100>;

/// Error: a content page has too many tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have at most {} tags", TagNames::MAX)]
pub struct TooManyTags;

/// Tags of a content page by name, each once, at most 20.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TagNames(Vec<TagName>);

impl TagNames {
    /// Maximum tags of a content page.
    pub const MAX: usize = 20;

    /// Removes duplicate names, compared without regard to case, and checks the number of the others.
    pub fn new(names: Vec<TagName>) -> Result<Self, TooManyTags> {
        let mut own: Vec<TagName> = Vec::new();
        for name in names {
            if !own.iter().any(|known| known.key() == name.key()) {
                own.push(name);
            }
        }
        if own.len() > Self::MAX { Err(TooManyTags) } else { Ok(Self(own)) }
    }

    /// Returns the names.
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

/// Fields of a new content page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageDraft {
    /// Slug; derived from the title if omitted.
    pub slug: Option<Slug>,
    /// Title.
    pub title: Name,
    /// Subject, in words.
    pub description: Option<Line<500>>,
    /// Picture for lists.
    pub preview: Option<PhotoUrl>,
    /// HTML.
    pub html: Option<Prose>,
    /// Type.
    pub page_type_id: Option<PageTypeId>,
    /// Tags; those that do not exist in the project are created.
    pub tags: TagNames,
    /// `true` if customers see it.
    pub is_active: bool,
    /// `true` if it is shown instead of pages that do not exist; it replaces the previous fallback.
    pub is_fallback: bool,
}

/// Change of a content page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageChange {
    /// Slug. A new title does not change it.
    pub slug: Edit<Slug>,
    /// Title.
    pub title: Edit<Name>,
    /// Subject, in words.
    pub description: Edit<Option<Line<500>>>,
    /// Picture for lists.
    pub preview: Edit<Option<PhotoUrl>>,
    /// HTML.
    pub html: Edit<Option<Prose>>,
    /// Type.
    pub page_type_id: Edit<Option<PageTypeId>>,
    /// Tags, replacing the old ones.
    pub tags: Edit<TagNames>,
    /// `true` if customers see it.
    pub is_active: Edit<bool>,
    /// `true` if it is shown instead of pages that do not exist.
    pub is_fallback: Edit<bool>,
}

impl PageContent {
    /// Returns the readable texts of the page, by which it is searched.
    pub fn readable(&self) -> [String; 3] {
        let text = self.html.as_deref().map(readable_text);
        let description = self.description.as_ref().map(ToString::to_string);
        [self.title.to_string(), description.unwrap_or_default(), text.unwrap_or_default()]
    }

    /// Returns the cleaned HTML, if any remains.
    pub fn cleaned(&self, cleaner: &dyn HtmlCleaner) -> Option<SafeHtml> {
        self.html.as_deref().and_then(|html| SafeHtml::of(html, cleaner))
    }
}

/// Type of content pages, as customers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageType {
    /// Identifier of the type.
    pub id: PageTypeId,
    /// Name.
    pub name: Name,
    /// Picture.
    pub photo: Option<String>,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
}

/// Filter of content pages for customers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageFilter {
    /// Type.
    pub page_type_id: Option<PageTypeId>,
    /// Words in title, description or text.
    pub query: Option<PageQueryText>,
}

/// Error: the text is too short or too long for a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 3 to 255 characters")]
pub struct InvalidPageQuery;

/// Search text for content pages: one line of 3 to 255 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageQueryText(Line<255>);

impl PageQueryText {
    /// Trims and checks the text.
    pub fn parse(text: &str) -> Result<Self, InvalidPageQuery> {
        let line = Line::parse(text).map_err(|_| InvalidPageQuery)?;
        if line.chars().count() < 3 { Err(InvalidPageQuery) } else { Ok(Self(line)) }
    }

    /// Returns the text.
    pub fn line(&self) -> &Line<255> {
        &self.0
    }
}

/// Order of content pages for customers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum PageOrder {
    /// Oldest first.
    DateAsc,
    /// Newest first.
    #[default]
    DateDesc,
    /// Least viewed first.
    PopularityAsc,
    /// Most viewed first.
    PopularityDesc,
}

/// Error: the text is not a slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} lowercase Latin letters, digits, hyphens and underscores", Slug::MAX)]
pub struct InvalidSlug;

/// Slug of a record: 1 to 100 of `a` to `z`, `0` to `9`, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slug(String);

impl Slug {
    /// Maximum length, in characters.
    pub const MAX: usize = 100;

    /// Trims and checks the text.
    pub fn parse(text: &str) -> Result<Self, InvalidSlug> {
        let text = text.trim();
        let fits = |sign: u8| sign.is_ascii_lowercase() || sign.is_ascii_digit() || matches!(sign, b'-' | b'_');
        let formed = (1..=Self::MAX).contains(&text.len()) && text.bytes().all(fits);
        if formed { Ok(Self(text.to_owned())) } else { Err(InvalidSlug) }
    }

    /// Creates a slug from a name, transliterated to Latin letters. Returns `instead` if nothing of it is a letter or a
    /// digit.
    pub fn of(name: &str, instead: &'static str) -> Self {
        let whole = slug::slugify(name);
        let short: String = whole.chars().take(Self::MAX).collect();
        let trimmed = short.trim_matches('-');
        Self(if trimmed.is_empty() { instead.to_owned() } else { trimmed.to_owned() })
    }

    /// Returns the slug with a number appended, for use if it is taken.
    #[must_use]
    pub fn numbered(&self, number: u32) -> Self {
        let end = format!("-{number}");
        let room = Self::MAX.saturating_sub(end.len());
        let start: String = self.0.chars().take(room).collect();
        Self(format!("{}{end}", start.trim_end_matches('-')))
    }
}

wraps_text!(Slug);

impl Deref for Slug {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<Slug> for String {
    fn from(slug: Slug) -> Self {
        slug.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_between_the_tags() {
        let text = |html: &str| readable_text(html).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text("<p>One<br>two</p><p title=\"a > b\">three</p>"), "One two three");
        assert_eq!(text("a &lt;b&gt; &amp;amp; c"), "a <b> &amp; c");
        assert_eq!(text("a<script>if (x</y) { b }</script> c <STYLE>d</style> <!-- e > --> f"), "a c f");
        assert_eq!(text("plain"), "plain");
        for cut in ["cut <a href=\"x", "cut <script>x", "cut <!-- x", "cut <"] {
            assert_eq!(text(cut), "cut");
        }
    }

    #[test]
    fn a_tag_ends_behind_its_values_in_quotes() {
        let text = |html: &str| readable_text(html).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text("<a title='>\"'>one</a>"), "one");
        assert_eq!(text("<a title=\"'>\">one</a>"), "one");
        assert_eq!(text("<!-- \" --> one"), "one");
    }

    #[test]
    fn only_a_whole_name_is_an_unread_element() {
        let text = |html: &str| readable_text(html).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text("<scripts>one</scripts> <style2>two</style2> <styl>three"), "one two three");
        assert_eq!(text("<script src=x>no</script >one"), "one");
        assert_eq!(text("<style>no</styles>no</style>one"), "one");
    }

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

    #[test]
    fn a_slug_is_part_of_an_address() {
        for good in ["about", " nav_panel ", "2026-11", &"a".repeat(100)] {
            assert!(Slug::parse(good).is_ok(), "{good}");
        }
        for bad in ["", " ", "a/b", "..", "a.b", "About", "о-нас", "a b", "\u{202e}a", "a\u{200f}", &"a".repeat(101)]
        {
            assert_eq!(Slug::parse(bad), Err(InvalidSlug), "{bad}");
        }
    }

    #[test]
    fn a_name_becomes_latin() {
        for (name, slug) in [
            ("О компании", "o-kompanii"),
            ("Щука и ёж!", "shchuka-i-iozh"),
            ("Größe & Maße", "grosse-masse"),
            ("  --  ", "page"),
            ("\u{202e}", "page"),
        ] {
            assert_eq!(Slug::of(name, "page").as_str(), slug, "{name}");
        }
        let long = Slug::of(&"слово ".repeat(60), "page");
        assert!(long.len() <= Slug::MAX && Slug::parse(&long).is_ok());
        assert_eq!(Slug::of("a", "page").numbered(12).as_str(), "a-12");
        let numbered = long.numbered(1_000_000);
        assert!(numbered.len() <= Slug::MAX && Slug::parse(&numbered).is_ok(), "{numbered}");
    }
}
