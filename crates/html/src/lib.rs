//! HTML pages of the service: one stylesheet, escaped text, and headers that block everything else.
//!
//! Pages work at a width of 360 px and by keyboard alone. They load nothing: the stylesheet is inline.

use std::fmt::Write as _;
use std::sync::LazyLock;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ContentType, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

/// Stylesheet of every page.
pub const STYLE: &str = include_str!("style.css");

/// Content security policy of a page without a script: its own style and its forms, which may redirect anywhere.
static POLICY: LazyLock<String> = LazyLock::new(|| format!("default-src 'none'; style-src {}", style_source()));

/// Returns the stylesheet as a source of a content security policy.
pub fn style_source() -> String {
    format!("'sha256-{}'", STANDARD.encode(digest(&SHA256, STYLE.as_bytes())))
}

/// Maximum width of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// A form with one question.
    Narrow,
    /// Tables and commands.
    Wide,
}

/// Escapes text for use inside an element or a quoted attribute.
pub fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut safe, c| {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
        safe
    })
}

/// Returns the rows of a table: name, as code, and description. Both are escaped.
pub fn rows<'a>(of: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    of.into_iter().fold(String::new(), |mut rows, (name, what)| {
        let _ = write!(rows, "<tr><td><code>{}</code></td><td>{}</td></tr>", escape(name), escape(what));
        rows
    })
}

/// Returns a page without a script. `title` is text, `body` is markup.
pub fn page(status: StatusCode, title: &str, width: Width, body: &str) -> HttpResponse {
    let title = escape(title);
    let class = match width {
        Width::Narrow => "narrow",
        Width::Wide => "wide",
    };
    HttpResponse::build(status)
        .insert_header(ContentType::html())
        .insert_header((CONTENT_SECURITY_POLICY, POLICY.as_str()))
        .insert_header((X_FRAME_OPTIONS, "DENY"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{title}</title>\
             <style>{STYLE}</style></head><body><main class=\"{class}\">{body}</main></body></html>"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_text_stays_text() {
        assert_eq!(escape("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
        assert_eq!(rows([("<b>", "&")]), "<tr><td><code>&lt;b&gt;</code></td><td>&amp;</td></tr>");
    }

    #[test]
    fn nothing_is_loaded_and_nothing_ends_the_style() {
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import") && !STYLE.contains('<'));
        let answer = page(StatusCode::OK, "<title>", Width::Wide, "");
        let policy = answer.headers().get(CONTENT_SECURITY_POLICY).and_then(|value| value.to_str().ok());
        assert!(policy.is_some_and(|policy| policy.starts_with("default-src 'none'") && !policy.contains("unsafe")));
    }
}
