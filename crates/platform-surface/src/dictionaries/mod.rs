//! System-wide dictionaries, and other lists that staff select from.

mod items;

use actix_web::get;
use chrono::{DateTime, Utc};
use kontor_organization::DictionaryService;
use kontor_organization::model::{Country, Setting};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use kontor_web::envelope::{list, one};
use kontor_web::records::{DeliveryOptionRecord, Picture, StorageUnitRecord, picture};
use kontor_web::routes::below;

handlers! {
    fn unit_routes; DictionaryService, "Dictionaries";

    /// List storage units
    ///
    /// Storage units are units of count or measure for goods.
    list "/api/storage_units" as list_storage_units = storage_units() -> StorageUnitList;

    /// Get a storage unit
    read "/api/storage_units/{id}" as show_storage_unit = storage_unit(id) -> StorageUnitResponse;
}

handlers! {
    fn list_routes; DictionaryService, "Dictionaries";

    /// List countries
    ///
    /// Returns the countries of origin of goods.
    list "/api/countries" as list_countries = countries() -> StaffCountryList;

    /// List delivery types
    ///
    /// Returns the delivery types of the project.
    list "/api/delivery_types" as list_delivery_types = delivery_types() -> StaffDeliveryTypeList;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    items::routes(config);
    below(config, "/api/storage_units", unit_routes);
    below(config, "/api/settings", setting_routes);
    list_routes(config);
}

list!(StaffDeliveryTypeList { delivery_types: [DeliveryOptionRecord], delivery_types_count });

#[derive(Serialize, ToSchema)]
struct StaffCountryRecord {
    id: i64,
    name: String,
    photo: Option<Picture>,
    created_at: DateTime<Utc>,
}

impl From<Country> for StaffCountryRecord {
    fn from(country: Country) -> Self {
        let Country { id, name, photo, created_at } = country;
        Self { id: id.get(), name: name.into(), photo: picture(photo), created_at }
    }
}

list!(StaffCountryList { countries: [StaffCountryRecord], countries_count });

list!(StorageUnitList { units: [StorageUnitRecord], units_count });

one!(StorageUnitResponse { unit: StorageUnitRecord });

handlers! {
    fn setting_routes; DictionaryService, "Dictionaries";

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
