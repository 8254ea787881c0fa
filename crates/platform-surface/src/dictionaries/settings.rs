//! Settings of the project.

use actix_web::get;
use actix_web::web::{Data, Path};
use chrono::{DateTime, Utc};
use kontor_organization::DictionaryService;
use kontor_organization::model::Setting;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::{PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_settings).service(show_setting);
}

#[derive(Serialize, ToSchema)]
struct SettingRecord {
    id: i64,
    /// `project_name`, `currency` (ISO 4217), `time_zone` (IANA) or `language` (`ru`, `en`). Date filters use days of
    /// the time zone. Notifications to customers use the language.
    name: &'static str,
    value: String,
    created_at: DateTime<Utc>,
}

impl From<Setting> for SettingRecord {
    fn from(setting: Setting) -> Self {
        let Setting { id, name, value, created_at } = setting;
        Self { id: id.get(), name, value, created_at }
    }
}

list!(SettingList { settings: [SettingRecord], settings_count });

/// List the project's settings
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = SettingList)))]
#[get("/api/settings")]
async fn list_settings(staff: SignedInStaff, service: Data<DictionaryService>) -> Answer<SettingList> {
    answer(service.settings(&staff).await?)
}

one!(SettingResponse { setting: SettingRecord });

/// Get a setting of the project
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = SettingResponse)))]
#[get("/api/settings/{id}")]
async fn show_setting(
    staff: SignedInStaff,
    service: Data<DictionaryService>,
    id: Path<PathId>,
) -> Answer<SettingResponse> {
    answer(service.setting(&staff, id.parse()?).await?)
}
