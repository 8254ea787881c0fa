//! All endpoints of the contract, and requests without a matching route. The route and its description come from the
//! same declaration.

use actix_web::dev::ResourceDef;
use actix_web::http::StatusCode;
use actix_web::http::header::ALLOW;
use actix_web::{HttpRequest, HttpResponse, ResponseError, web};
use kontor_web::ApiError;
use utoipa::openapi::{OpenApi, PathItem};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::callbacks;

/// Registers all endpoints.
pub fn routes(config: &mut ServiceConfig<'_>) {
    kontor_client_surface::routes(config);
    kontor_platform_surface::routes(config);
    callbacks::routes(config);
}

/// Every path with its methods.
pub struct KnownPaths(Vec<(ResourceDef, Vec<&'static str>)>);

fn methods(item: &PathItem) -> Vec<&'static str> {
    let all = [
        ("GET", item.get.is_some()),
        ("HEAD", item.get.is_some()),
        ("POST", item.post.is_some()),
        ("PUT", item.put.is_some()),
        ("PATCH", item.patch.is_some()),
        ("DELETE", item.delete.is_some()),
    ];
    all.into_iter().filter(|(_, present)| *present).map(|(method, _)| method).collect()
}

impl KnownPaths {
    /// Reads the paths from the API description, which has the same source as the routes.
    pub fn of(api: &OpenApi) -> Self {
        Self(api.paths.paths.iter().map(|(path, item)| (ResourceDef::new(path.as_str()), methods(item))).collect())
    }

    fn allowed(&self, path: &str) -> Vec<&'static str> {
        let matching = self.0.iter().filter(|(pattern, _)| pattern.is_match(path));
        let mut allowed = Vec::new();
        // A path may match several patterns.
        for method in matching.flat_map(|(_, methods)| methods.iter().copied()) {
            if !allowed.contains(&method) {
                allowed.push(method);
            }
        }
        allowed
    }
}

/// Default handler: `405` if the path exists with another method, otherwise `404`.
pub async fn unrouted(request: HttpRequest, known: web::Data<KnownPaths>) -> HttpResponse {
    let allowed = known.allowed(request.path());
    if allowed.is_empty() {
        return ApiError::not_found().error_response();
    }
    let message = "The method is not allowed here.".to_owned();
    let mut response = ApiError::Message(StatusCode::METHOD_NOT_ALLOWED, message).error_response();
    if let Ok(value) = allowed.join(", ").parse() {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}
