//! `POST /mcp`, the document about its tokens, and the documents for agents: `/llms.txt`, the guides and the skill.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{ALLOW, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use actix_web::http::uri::Uri;
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Bytes, Data, ServiceConfig};
use actix_web::{Error, HttpMessage, HttpRequest, HttpResponse, ResponseError, get};
use kontor_kernel::{RateRule, Staff};
use kontor_web::body::refuse_compressed;
use kontor_web::body_budget::BodyShare;
use kontor_web::limits::{MCP_ADDRESS, MCP_TOKEN};
use kontor_web::policy::Access;
use kontor_web::scopes::{Admitted, admit};
use kontor_web::{ApiError, BodyReader, ClientIp, InProcess, Settings, Throttle};
use serde_json::{Value, json};

use crate::api::Agent;
use crate::server::Challenge;
use crate::trade::{Caller, Mcp};

/// Path of the endpoint.
const PATH: &str = "/mcp";
/// Path of the document that describes the endpoint to clients without a token.
const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Registers the endpoint, the document about its tokens, and the documents for agents.
pub fn routes(config: &mut ServiceConfig) {
    let endpoint = web::resource(PATH).wrap(from_fn(check)).route(web::post().to(serve));
    config.service(endpoint).service(metadata).service(metadata_of_path);
    for (path, text) in PAGES {
        let show = move || async move { HttpResponse::Ok().content_type("text/markdown; charset=utf-8").body(*text) };
        config.route(path, web::get().to(show));
    }
}

/// Returns the header that leads a caller to another token.
fn challenge(public_url: &str, challenge: &Challenge) -> String {
    let document = format!("resource_metadata=\"{public_url}{METADATA}{PATH}\"");
    match challenge {
        Challenge::Token => format!("Bearer {document}"),
        Challenge::Permissions(missing) => {
            format!("Bearer error=\"insufficient_scope\", scope=\"{}\", {document}", missing.join(" "))
        }
    }
}

/// Returns `true` unless the request comes from a page of another site: browsers send the header `Origin`. A page of
/// this machine may call a service that is known by a loopback name.
pub fn is_own_origin(origin: &str, public_url: &str) -> bool {
    let host = |url: &str| url.parse::<Uri>().ok().and_then(|url| url.host().map(str::to_owned));
    let is_loopback = |url: &str| host(url).is_some_and(|host| ["localhost", "127.0.0.1", "[::1]"].contains(&&*host));
    origin == public_url.trim_end_matches('/') || is_loopback(origin) && is_loopback(public_url)
}

/// Authenticates the caller before the body is read, as the API does, and reads the body within the same limits.
async fn check(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    match admitted(&mut request).await {
        Ok(share) => {
            let response = next.call(request).await?;
            drop(share);
            Ok(response.map_into_left_body())
        }
        Err(refusal) => Ok(request.into_response(refusal).map_into_right_body()),
    }
}

async fn admitted(request: &mut ServiceRequest) -> Result<Option<BodyShare>, HttpResponse> {
    let refuse = |error: ApiError| error.error_response();
    if request.method() != Method::POST {
        let message = "The method is not allowed here.".to_owned();
        let mut response = refuse(ApiError::Message(StatusCode::METHOD_NOT_ALLOWED, message));
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        return Err(response);
    }
    let settings = request.app_data::<Data<Settings>>().cloned();
    let intake = request.app_data::<Data<BodyReader>>().cloned();
    let (Some(settings), Some(intake)) = (settings, intake) else {
        return Err(refuse(ApiError::internal(&"the settings or the body reader are missing")));
    };
    if let Some(origin) = request.headers().get(ORIGIN)
        && !origin.to_str().is_ok_and(|origin| is_own_origin(origin, &settings.public_url))
    {
        return Err(refuse(ApiError::forbidden("The page of another site must not call this address.")));
    }
    count(request.request(), MCP_ADDRESS, ClientIp::of(request.request()).subject()).await.map_err(refuse)?;
    let mut staff = authenticate(request.request(), &settings.public_url).await?;
    count(request.request(), MCP_TOKEN, staff.token_id.to_string()).await.map_err(refuse)?;
    refuse_compressed(request.headers()).map_err(refuse)?;
    let body = Box::pin(intake.take(request)).await.map_err(refuse)?;
    if body.as_ref().is_some_and(|body| !body.came_at_once) {
        staff = authenticate(request.request(), &settings.public_url).await?;
    }
    request.extensions_mut().insert(staff);
    Ok(body.map(|body| body.share))
}

async fn count(request: &HttpRequest, rule: RateRule, subject: String) -> Result<(), ApiError> {
    let throttle = request.app_data::<Data<Throttle>>();
    let throttle = throttle.ok_or_else(|| ApiError::internal(&"the rate limits are missing"))?;
    throttle.hit(request, &[(rule, subject)]).await
}

async fn authenticate(request: &HttpRequest, public_url: &str) -> Result<Staff, HttpResponse> {
    match admit(request, Access::Staff(&[])).await {
        Ok(Admitted::Staff(staff)) => Ok(staff),
        Ok(_) => Err(ApiError::internal(&"the caller is no employee and no agent").error_response()),
        Err(error) => Err(with_challenge(error.error_response(), public_url, &Challenge::Token)),
    }
}

/// Adds the challenge to a `401` or `403`.
fn with_challenge(mut response: HttpResponse, public_url: &str, needed: &Challenge) -> HttpResponse {
    let is_refusal = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&response.status());
    if is_refusal && let Ok(value) = challenge(public_url, needed).parse() {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    response
}

/// Returns the response with the body of a reply.
pub fn response(status: StatusCode, body: Option<Value>) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    match body {
        Some(body) => response.json(body),
        None => response.finish(),
    }
}

/// `POST /mcp`
async fn serve(
    request: HttpRequest,
    body: Bytes,
    mcp: Data<Mcp>,
    settings: Data<Settings>,
    in_process: Data<InProcess>,
) -> HttpResponse {
    let Some(staff) = request.extensions_mut().remove::<Staff>() else {
        return ApiError::internal(&"the caller is missing").error_response();
    };
    let agent = Agent { in_process: &in_process, token: staff.token_id, address: ClientIp::of(&request).0 };
    let caller = Caller { staff: &staff, public_url: &settings.public_url };
    let reply = mcp.answer(caller, request.headers(), &body, &agent).await;
    let response = response(reply.status, reply.body);
    match reply.challenge {
        Some(needed) => with_challenge(response, &settings.public_url, &needed),
        None => response,
    }
}

/// Returns the document of RFC 9728. It names no authorization server: employees give out the tokens, on request.
fn described(mcp: &Mcp, settings: &Settings) -> HttpResponse {
    let url = &settings.public_url;
    HttpResponse::Ok().json(json!({
        "resource": format!("{url}{PATH}"),
        "resource_name": "Kontor",
        "resource_documentation": format!("{url}/guides/agents.md"),
        "bearer_methods_supported": ["header"],
        "scopes_supported": mcp.scopes(),
    }))
}

/// `GET /.well-known/oauth-protected-resource`
#[get("/.well-known/oauth-protected-resource")]
async fn metadata(mcp: Data<Mcp>, settings: Data<Settings>) -> HttpResponse {
    described(&mcp, &settings)
}

/// `GET /.well-known/oauth-protected-resource/mcp`
#[get("/.well-known/oauth-protected-resource/mcp")]
async fn metadata_of_path(mcp: Data<Mcp>, settings: Data<Settings>) -> HttpResponse {
    described(&mcp, &settings)
}

macro_rules! pages {
    ($($path:literal => $file:literal,)+) => {
        /// Address and text of every document.
        pub const PAGES: &[(&str, &str)] = &[$(($path, include_str!(concat!("../../../docs/", $file))),)+];
    };
}

pages! {
    "/llms.txt" => "agents/llms.txt",
    "/skills/kontor/SKILL.md" => "agents/SKILL.md",
    "/guides/agents.md" => "guides/agents.md",
    "/guides/idempotency.md" => "guides/idempotency.md",
    "/guides/orders.md" => "guides/orders.md",
    "/guides/receipts.md" => "guides/receipts.md",
    "/guides/preconditions.md" => "guides/preconditions.md",
    "/guides/subscriptions.md" => "guides/subscriptions.md",
    "/guides/synchronization.md" => "guides/synchronization.md",
    "/guides/webhooks.md" => "guides/webhooks.md",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_leads_to_the_document() {
        let token = challenge("https://shop.example", &Challenge::Token);
        let document = "resource_metadata=\"https://shop.example/.well-known/oauth-protected-resource/mcp\"";
        assert_eq!(token, format!("Bearer {document}"));
        let missing = Challenge::Permissions(vec!["view-orders".to_owned(), "edit-orders".to_owned()]);
        let scope = "Bearer error=\"insufficient_scope\", scope=\"view-orders edit-orders\"";
        assert_eq!(challenge("https://shop.example", &missing), format!("{scope}, {document}"));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let here = "http://127.0.0.1:8080";
        assert!(is_own_origin("https://shop.example", "https://shop.example"));
        assert!(
            ["http://localhost:6274", "http://127.0.0.1:8080", "http://[::1]"].iter().all(|o| is_own_origin(o, here))
        );
        for (origin, public_url) in [
            ("https://evil.example", "https://shop.example"),
            ("http://localhost:3000", "https://shop.example"),
            ("http://evil.example", here),
            ("http://localhost.evil.example", here),
            ("null", here),
        ] {
            assert!(!is_own_origin(origin, public_url), "{origin}");
        }
    }

    /// Targets of the Markdown links in a text.
    fn links(text: &str) -> impl Iterator<Item = &str> {
        text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
    }

    #[test]
    fn links_for_agents_resolve() {
        // The process serves the description.
        let elsewhere = ["/openapi.json"];
        let (mut seen, is_served) = (0, |path: &str| PAGES.iter().any(|(served, _)| *served == path));
        for (page, text) in PAGES.iter().filter(|(page, _)| !page.starts_with("/guides/")) {
            for link in links(text) {
                seen += 1;
                assert!(is_served(link) || elsewhere.contains(&link), "{page} leads to {link}");
            }
        }
        assert!(seen > 8, "{seen}");
        let mut guides = PAGES.iter().filter(|(page, _)| page.starts_with("/guides/"));
        let index = PAGES.iter().find(|(page, _)| *page == "/llms.txt").unwrap().1;
        assert!(guides.all(|(page, _)| index.contains(page)), "every guide is in the index");
    }
}
