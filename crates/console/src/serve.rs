//! Responses: the page, its files, and the headers of both.

use actix_web::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, EntityTag,
    Header as _, IfNoneMatch, LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, web};

use crate::files::{self, File};

/// Content security policy of the console: everything from its own origin, no inline code, previews only from blobs.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
     connect-src 'self'; font-src 'self'; frame-src blob:; object-src 'none'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'";

const PERMISSIONS: &str = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";

pub(crate) async fn redirect() -> HttpResponse {
    framed(HttpResponse::PermanentRedirect()).insert_header((LOCATION, "/console/")).finish()
}

pub(crate) async fn console(request: HttpRequest, path: web::Path<String>) -> HttpResponse {
    let path = path.into_inner();
    match asset(&path) {
        Some((hash, name)) => match files::find(name) {
            Some(file) if hash == files::content_hash() => {
                answer(&request, file, "public, max-age=31536000, immutable")
            }
            _ => framed(HttpResponse::NotFound()).finish(),
        },
        None if path.rsplit('/').next().is_some_and(|last| last.contains('.')) => {
            framed(HttpResponse::NotFound()).finish()
        }
        None => answer(&request, files::page(), "no-cache"),
    }
}

/// Splits the address of a file into the content hash and the name.
fn asset(path: &str) -> Option<(&str, &str)> {
    let (hash, name) = path.split_once('/')?;
    let is_hash = hash.len() == files::HASH_LENGTH && hash.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then_some((hash, name))
}

fn answer(request: &HttpRequest, file: &'static File, cache: &'static str) -> HttpResponse {
    let zipped = file.gzip.clone().filter(|_| takes_gzip(request));
    let tag = EntityTag::new_strong(format!("{}{}", files::content_hash(), if zipped.is_some() { "-gz" } else { "" }));
    let mut response = framed(if is_known(request, &tag) { HttpResponse::NotModified() } else { HttpResponse::Ok() });
    response
        .insert_header((CACHE_CONTROL, cache))
        .insert_header((ETAG, tag.to_string()))
        .insert_header((VARY, "Accept-Encoding"));
    if is_known(request, &tag) {
        return response.finish();
    }
    response.insert_header((CONTENT_TYPE, file.media));
    match zipped {
        Some(zipped) => response.insert_header((CONTENT_ENCODING, "gzip")).body(zipped),
        None => response.body(web::Bytes::copy_from_slice(&file.plain)),
    }
}

fn is_known(request: &HttpRequest, tag: &EntityTag) -> bool {
    match IfNoneMatch::parse(request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(known)) => known.iter().any(|known| known.weak_eq(tag)),
        Err(_) => false,
    }
}

fn takes_gzip(request: &HttpRequest) -> bool {
    let accepted = request.headers().get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        let refused =
            parts.any(|weight| matches!(weight.replace(' ', "").as_str(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        named && !refused
    })
}

/// Adds the headers that every response of the console has.
fn framed(mut response: HttpResponseBuilder) -> HttpResponseBuilder {
    response
        .insert_header((CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header(("Permissions-Policy", PERMISSIONS))
        .insert_header(("Cross-Origin-Opener-Policy", "same-origin"))
        .insert_header(("Cross-Origin-Resource-Policy", "same-origin"));
    response
}

#[cfg(test)]
mod tests {
    use actix_web::App;
    use actix_web::body::to_bytes;
    use actix_web::dev::ServiceResponse;
    use actix_web::http::StatusCode;
    use actix_web::http::header::IF_NONE_MATCH;
    use actix_web::test::{TestRequest, call_service, init_service};
    use std::io::Read as _;

    use super::*;
    use crate::routes;

    async fn get(path: &str, headers: &[(&str, &str)]) -> ServiceResponse {
        let service = init_service(App::new().configure(routes)).await;
        let request =
            headers.iter().fold(TestRequest::get().uri(path), |request, header| request.insert_header(*header));
        call_service(&service, request.to_request()).await
    }

    fn header<'a>(response: &'a ServiceResponse, name: &str) -> &'a str {
        response.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[actix_web::test]
    async fn pages_are_served_at_every_depth_and_name_files_that_exist() {
        for path in ["/console/", "/console/orders", "/console/orders/12?tab=files"] {
            let response = get(path, &[]).await;
            assert_eq!(response.status(), StatusCode::OK, "{path}");
            assert_eq!(header(&response, "cache-control"), "no-cache");
            assert_eq!(header(&response, "content-type"), "text/html; charset=utf-8");
            let page = String::from_utf8(to_bytes(response.into_body()).await.unwrap().to_vec()).unwrap();
            let addresses: Vec<&str> = page.split('"').filter(|part| part.starts_with("/console/")).collect();
            assert!(addresses.len() > 5, "{addresses:?}");
            for address in addresses {
                assert_eq!(get(address, &[]).await.status(), StatusCode::OK, "{address}");
            }
        }
    }

    #[actix_web::test]
    async fn every_response_has_the_policy() {
        let file = format!("/console/{}/app.js", files::content_hash());
        for path in ["/console", "/console/", file.as_str(), "/console/missing.js"] {
            let response = get(path, &[]).await;
            assert_eq!(header(&response, "content-security-policy"), POLICY, "{path}");
            assert_eq!(header(&response, "x-content-type-options"), "nosniff", "{path}");
            assert_eq!(header(&response, "referrer-policy"), "no-referrer", "{path}");
            assert!(!header(&response, "permissions-policy").is_empty(), "{path}");
        }
        for part in
            ["default-src 'none'", "script-src 'self'", "object-src 'none'", "require-trusted-types-for 'script'"]
        {
            assert!(POLICY.split("; ").any(|directive| directive == part), "{part}");
        }
        assert!(!POLICY.contains("unsafe"));
    }

    #[actix_web::test]
    async fn files_are_immutable_and_zipped_if_the_client_takes_that() {
        let path = format!("/console/{}/lib/table.js", files::content_hash());
        let plain = get(&path, &[]).await;
        assert_eq!(header(&plain, "cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(header(&plain, "content-type"), "text/javascript; charset=utf-8");
        assert_eq!(header(&plain, "content-encoding"), "");
        let plain = to_bytes(plain.into_body()).await.unwrap();
        let zipped = get(&path, &[("Accept-Encoding", "br, gzip;q=0.8")]).await;
        assert_eq!(header(&zipped, "content-encoding"), "gzip");
        let zipped = to_bytes(zipped.into_body()).await.unwrap();
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(zipped.as_ref()).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain);
        let refused = get(&path, &[("Accept-Encoding", "gzip;q=0")]).await;
        assert_eq!(header(&refused, "content-encoding"), "");
        let texts = get(&format!("/console/{}/i18n/en/shell.json", files::content_hash()), &[]).await;
        assert_eq!(header(&texts, "content-type"), "application/json; charset=utf-8");
    }

    #[actix_web::test]
    async fn a_known_version_is_not_sent_again() {
        for path in ["/console/".to_owned(), format!("/console/{}/app.css", files::content_hash())] {
            let first = get(&path, &[("Accept-Encoding", "gzip")]).await;
            let tag = header(&first, "etag").to_owned();
            let again = get(&path, &[("Accept-Encoding", "gzip"), (IF_NONE_MATCH.as_str(), &tag)]).await;
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
            assert_eq!(header(&again, "etag"), tag);
            assert!(to_bytes(again.into_body()).await.unwrap().is_empty());
            let other = get(&path, &[("Accept-Encoding", "gzip"), (IF_NONE_MATCH.as_str(), "\"other\"")]).await;
            assert_eq!(other.status(), StatusCode::OK, "{path}");
        }
    }

    #[actix_web::test]
    async fn other_versions_and_unknown_files_are_missing() {
        let other = "0".repeat(files::HASH_LENGTH);
        let hash = files::content_hash();
        for path in [
            format!("/console/{other}/app.js"),
            format!("/console/{hash}/nothing.js"),
            format!("/console/{hash}/../src/lib.rs"),
            "/console/app.js".to_owned(),
        ] {
            assert_eq!(get(&path, &[]).await.status(), StatusCode::NOT_FOUND, "{path}");
        }
        let redirected = get("/console", &[]).await;
        assert_eq!(redirected.status(), StatusCode::PERMANENT_REDIRECT);
        assert_eq!(header(&redirected, "location"), "/console/");
    }
}
