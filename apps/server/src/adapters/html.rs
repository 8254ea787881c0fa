use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ammonia::{Builder, UrlRelative};
use kontor_kernel::HtmlCleaner;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Allowed elements: text, lists, tables and pictures. docs/decisions.md has the same list.
const TAGS: [&str; 45] = [
    "a",
    "abbr",
    "b",
    "blockquote",
    "br",
    "caption",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "ins",
    "li",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "u",
];
const MORE_TAGS: [&str; 2] = ["tfoot", "ul"];

/// Elements removed together with their content.
const DROPPED_WHOLE: [&str; 13] = [
    "applet", "embed", "iframe", "math", "noembed", "noframes", "noscript", "object", "script", "style", "svg",
    "template", "title",
];

const ATTRIBUTES: [(&str, &[&str]); 8] = [
    ("a", &["href", "title"]),
    ("abbr", &["title"]),
    ("col", &["span"]),
    ("colgroup", &["span"]),
    ("img", &["src", "alt", "title", "width", "height"]),
    ("ol", &["start"]),
    ("td", &["colspan", "rowspan"]),
    ("th", &["colspan", "rowspan", "scope"]),
];

const SCHEMES: [&str; 4] = ["http", "https", "mailto", "tel"];

/// Maximum size of the cache in bytes: some thousand descriptions.
const MEMORY: u64 = 16 * 1024 * 1024;
const USUAL_SIZE: u64 = 4 * 1024;

#[derive(Clone)]
struct Bytes;

impl Weighter<String, Arc<str>> for Bytes {
    fn weight(&self, html: &String, cleaned: &Arc<str>) -> u64 {
        let bytes = html.len().saturating_add(cleaned.len());
        u64::try_from(bytes).unwrap_or(u64::MAX).max(1)
    }
}

/// Keeps the elements and attributes of an allow-list. Cleaned texts are cached, because shops request the same items
/// repeatedly.
pub struct HtmlAllowList {
    rules: Builder<'static>,
    known: Cache<String, Arc<str>, Bytes>,
}

impl Default for HtmlAllowList {
    fn default() -> Self {
        let mut rules = Builder::default();
        let attributes: HashMap<_, HashSet<_>> =
            ATTRIBUTES.into_iter().map(|(tag, names)| (tag, names.iter().copied().collect())).collect();
        rules
            .tags(TAGS.into_iter().chain(MORE_TAGS).collect())
            .clean_content_tags(DROPPED_WHOLE.into())
            .tag_attributes(attributes)
            .generic_attributes(HashSet::new())
            .url_schemes(SCHEMES.into())
            .url_relative(UrlRelative::PassThrough)
            .link_rel(Some("noopener noreferrer nofollow"))
            .strip_comments(true);
        let entries = usize::try_from(MEMORY / USUAL_SIZE).unwrap_or(usize::MAX);
        Self { rules, known: Cache::with_weighter(entries, MEMORY, Bytes) }
    }
}

impl HtmlCleaner for HtmlAllowList {
    fn clean(&self, html: &str) -> String {
        // Without these the text has no element and no entity, so nothing to clean.
        if !html.contains(['<', '>', '&']) {
            return html.to_owned();
        }
        if let Some(known) = self.known.get(html) {
            return known.to_string();
        }
        let cleaned = self.rules.clean(html).to_string();
        self.known.insert(html.to_owned(), cleaned.as_str().into());
        cleaned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(html: &str) -> String {
        let cleaner = HtmlAllowList::default();
        let once = cleaner.clean(html);
        assert_eq!(cleaner.clean(html), once, "remembered as it was");
        assert_eq!(cleaner.clean(&once), once, "clean is clean");
        once
    }

    #[test]
    fn text_markup_is_kept() {
        for html in [
            "plain, 5 kg, \"quoted\"",
            "<h2>Mug</h2><p>A <b>blue</b> <em>mug</em><br>0.3 l</p>",
            "<ul><li>one</li><li>two</li></ul><ol start=\"3\"><li>three</li></ol>",
            "<table><thead><tr><th scope=\"col\" colspan=\"2\">Size</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
            "<img src=\"https://a.example/1.png\" alt=\"mug\" width=\"10\">",
            "<figure><img src=\"/1.png\"><figcaption>&lt;mug&gt; &amp; more</figcaption></figure>",
        ] {
            assert_eq!(clean(html), html);
        }
    }

    #[test]
    fn links_lead_away_without_telling_from_where() {
        let rel = "rel=\"noopener noreferrer nofollow\"";
        for address in ["https://shop.example/a?b=1", "mailto:a@b.ru", "tel:+79001234567", "/sale", "#top"] {
            assert_eq!(clean(&format!("<a href=\"{address}\">x</a>")), format!("<a href=\"{address}\" {rel}>x</a>"));
        }
        assert_eq!(
            clean("<a href=\"https://a/\" target=\"_blank\" rel=\"opener\">x</a>"),
            format!("<a href=\"https://a/\" {rel}>x</a>")
        );
    }

    #[test]
    fn executable_markup_is_removed() {
        for (html, left) in [
            ("a<script>alert(1)</script>b", "ab"),
            ("<SCRIPT SRC=//evil.example/x.js></SCRIPT>b", "b"),
            ("<p onclick=\"alert(1)\" id=x class=y>a</p>", "<p>a</p>"),
            ("<img src=x onerror=alert(1)>", "<img src=\"x\">"),
            ("<img src=\"javascript:alert(1)\" alt=\"a\">", "<img alt=\"a\">"),
            ("<img src=\"data:image/svg+xml,<svg onload=alert(1)>\">", "<img>"),
            ("<p style=\"background:url(javascript:alert(1));position:fixed\">a</p>", "<p>a</p>"),
            ("<style>p{display:none}</style>a", "a"),
            ("<svg onload=alert(1)><circle r=1></circle><text>t</text></svg>a", "a"),
            ("<svg><animate onbegin=alert(1) attributeName=x></svg>a", "a"),
            (
                "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>a",
                "a",
            ),
            ("<iframe src=\"https://evil.example\"></iframe>a", "a"),
            ("<object data=x></object><embed src=x>a", "a"),
            ("<form action=x><input name=a><button>b</button></form>", "b"),
            ("<base href=//evil.example><link rel=stylesheet href=x><meta http-equiv=refresh content=0>a", "a"),
            ("<!-- <script>alert(1)</script> -->a", "a"),
            ("<template><script>alert(1)</script></template>a", "a"),
            ("<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>a", "\"&gt;a"),
        ] {
            let cleaned = clean(html);
            assert!(
                !cleaned.contains("alert") && !cleaned.contains("evil") && !cleaned.contains("on"),
                "{html}: {cleaned}"
            );
            if !html.contains("noscript") {
                assert_eq!(cleaned, left, "{html}");
            }
        }
    }

    #[test]
    fn addresses_that_run_lead_nowhere() {
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " javascript:alert(1)",
            "java\tscript:alert(1)",
            "java&#10;script:alert(1)",
            "&#106;avascript:alert(1)",
            "&#x6A;&#x61;vascript&colon;alert(1)",
            "vbscript:msgbox(1)",
            "data:text/html,<script>alert(1)</script>",
            "\u{1}javascript:alert(1)",
            "file:///etc/passwd",
        ] {
            let cleaned = clean(&format!("<a href='{address}'>x</a>"));
            assert!(!cleaned.contains("href"), "{address:?}: {cleaned}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let cleaner = HtmlAllowList::default();
        for number in 0..200 {
            cleaner.clean(&format!("<p>{number} {}</p>", "x".repeat(200_000)));
        }
        assert!(cleaner.known.weight() <= MEMORY, "{}", cleaner.known.weight());
        assert!(cleaner.known.len() > 10);
    }
}
