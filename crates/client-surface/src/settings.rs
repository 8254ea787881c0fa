//! Settings of the calling application.

use actix_web::get;
use actix_web::web::Json;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::CallingApp;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(show_settings);
}

#[derive(Serialize, ToSchema)]
struct ClientSettings {
    /// `true` if the application sells wholesale.
    wholesale: bool,
}

/// Get the application's settings
///
/// Use it to check an App Token.
#[utoipa::path(tag = "Client: settings", responses((status = 200, body = ClientSettings)))]
#[get("/api/counterparty/settings")]
async fn show_settings(app: CallingApp) -> Json<ClientSettings> {
    Json(ClientSettings { wholesale: app.wholesale })
}
