//! Page on which an employee decides on an agent's access request in a browser. It is the same for every request: it
//! loads the details itself with the employee's token and inserts them as text.

use std::sync::Arc;

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ContentType, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use actix_web::web::{Data, Path};
use actix_web::{HttpResponse, get};
use kontor_kernel::Random;
use uuid::Uuid;

use super::ApiError;

const PAGE: &str = include_str!("review_page.html");
/// Placeholder of the nonce.
const NONCE: &str = "{{nonce}}";
/// Placeholder of the style that all pages share.
const STYLE: &str = "{{style}}";

/// Returns the path of the page for an access request.
pub fn path_of(public_id: Uuid) -> String {
    format!("/agent-access/{public_id}")
}

/// `GET /agent-access/{publicId}`. Only the page's own style and script run, and it may only call this service.
#[get("/agent-access/{public_id}")]
pub async fn review_page(random: Data<Arc<dyn Random>>, path: Path<String>) -> Result<HttpResponse, ApiError> {
    Uuid::parse_str(&path).map_err(|_| ApiError::not_found())?;
    let nonce = random.alphanumeric(32);
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let answer = HttpResponse::Ok()
        .insert_header(ContentType::html())
        .insert_header((CONTENT_SECURITY_POLICY, policy))
        .insert_header((X_FRAME_OPTIONS, "DENY"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(PAGE.replace(STYLE, kontor_html::STYLE).replace(NONCE, &nonce));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_never_become_markup() {
        for sink in ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Storage", "cookie", "src="]
        {
            assert!(!PAGE.contains(sink), "{sink}");
        }
        assert_eq!(PAGE.matches(NONCE).count(), 2);
        assert_eq!(PAGE.matches(STYLE).count(), 1);
        assert!(!PAGE.contains("http://") && !PAGE.contains("https://"));
    }
}
