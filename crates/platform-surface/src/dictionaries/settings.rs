//! Settings of the project.

use actix_web::get;
use chrono::{DateTime, Utc};
use kontor_organization::DictionaryService;
use kontor_organization::model::Setting;
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use kontor_web::envelope::{list, one};

handlers! {
    DictionaryService, "Dictionaries";

    /// List the project's settings
    list "/api/settings" as list_settings = settings() -> SettingList;

    /// Get a setting of the project
    read "/api/settings/{id}" as show_setting = setting(id) -> SettingResponse;
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

one!(SettingResponse { setting: SettingRecord });
