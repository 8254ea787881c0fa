//! HTML that people wrote and browsers of others are to show.

/// Takes everything out of HTML that could do more than show text: scripts, event handlers, foreign frames, styles.
/// Cleaning what is clean already changes nothing.
pub trait HtmlCleaner: Send + Sync {
    /// What is left of it.
    fn clean(&self, html: &str) -> String;
}

/// HTML that a cleaner has been over; never blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeHtml(String);

impl SafeHtml {
    /// What a cleaner leaves of it, if that is anything.
    pub fn of(html: &str, cleaner: &dyn HtmlCleaner) -> Option<Self> {
        let left = cleaner.clean(html);
        (!left.trim().is_empty()).then_some(Self(left))
    }

    /// The HTML.
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
}
