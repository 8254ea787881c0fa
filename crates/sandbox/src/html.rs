//! The look of the sandbox's pages.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;background:#f3f4f6;color:#1f2937;margin:0}\
main{max-width:44rem;margin:8vh auto;padding:2rem;background:#fff;border-radius:12px;box-shadow:0 1px 4px #0002}\
main.narrow{max-width:24rem}h1{margin:.2rem 0;font-size:1.6rem}label{display:block;margin:.8rem 0}\
input:not([type=checkbox]),select{display:block;width:100%;box-sizing:border-box;padding:.6rem;font:inherit;\
border:1px solid #cbd5e1;border-radius:8px}button{width:100%;padding:.7rem;margin:.4rem 0;font:inherit;border:0;\
border-radius:8px;background:#2563eb;color:#fff;cursor:pointer}button.quiet{background:#e5e7eb;color:#111827}\
fieldset{border:1px solid #e5e7eb;border-radius:8px;margin-top:1.2rem}.hint{color:#6b7280;font-size:.85rem}\
.problem{color:#b91c1c}code{background:#f3f4f6;padding:.1rem .3rem;border-radius:4px}\
table{border-collapse:collapse;width:100%}td{padding:.35rem .5rem .35rem 0;vertical-align:top}";

/// Text made safe inside an element or a quoted attribute.
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

/// A page the payer sees.
pub fn page(status: StatusCode, title: &str, body: &str) -> HttpResponse {
    document(status, title, "narrow", body)
}

/// A page for the developer.
pub fn wide_page(title: &str, body: &str) -> HttpResponse {
    document(StatusCode::OK, title, "wide", body)
}

fn document(status: StatusCode, title: &str, class: &str, body: &str) -> HttpResponse {
    let title = escape(title);
    HttpResponse::build(status)
        .content_type("text/html; charset=utf-8")
        .insert_header(("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'"))
        .insert_header(("cache-control", "no-store"))
        .body(format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{title}</title>\
             <style>{STYLE}</style></head><body><main class=\"{class}\">{body}</main></body></html>"
        ))
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn markup_in_a_text_stays_text() {
        assert_eq!(escape("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
    }
}
