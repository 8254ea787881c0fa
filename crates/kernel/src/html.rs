//! HTML written by people and shown in other people's browsers.

/// Removes everything from HTML that can do more than show text: scripts, event handlers, frames of other sites,
/// styles. Cleaning is idempotent.
pub trait HtmlCleaner: Send + Sync {
    /// Returns the cleaned HTML.
    fn clean(&self, html: &str) -> String;
}

/// Cleaned HTML, never blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeHtml(String);

impl SafeHtml {
    /// Cleans the HTML. Returns `None` if nothing remains.
    pub fn of(html: &str, cleaner: &dyn HtmlCleaner) -> Option<Self> {
        let left = cleaner.clean(html);
        (!left.trim().is_empty()).then_some(Self(left))
    }

    /// Returns the HTML.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<SafeHtml> for String {
    fn from(html: SafeHtml) -> Self {
        html.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoTags;

    impl HtmlCleaner for NoTags {
        fn clean(&self, html: &str) -> String {
            html.replace("<b>", "")
        }
    }

    #[test]
    fn nothing_left_is_nothing() {
        assert_eq!(SafeHtml::of("<b>a", &NoTags).map(String::from).as_deref(), Some("a"));
        assert_eq!(SafeHtml::of("<b> ", &NoTags), None);
    }

    #[test]
    fn clean_html_is_what_the_cleaner_left() {
        assert_eq!(SafeHtml::of("<b> a ", &NoTags).unwrap().as_str(), " a ");
    }
}
