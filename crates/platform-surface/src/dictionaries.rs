//! System-wide dictionaries, and other lists that staff select from. Those with the shape `{id, name, avatar, created_at}`
//! are defined by one declaration each.

use actix_web::get;
use actix_web::web::Path;
use chrono::{DateTime, Utc};
use kontor_organization::DictionaryService;
use kontor_organization::model::{Country, Dictionary, DictionaryItem, Setting};
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::path::below;
use kontor_web::records::{DeliveryOptionRecord, Picture, StorageUnitRecord, picture};
use kontor_web::{PathId, Service, SignedInStaff};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;

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
    item_routes(config);
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

#[derive(Serialize, ToSchema)]
struct DictionaryRecord {
    id: i64,
    name: String,
    avatar: Option<Picture>,
    created_at: DateTime<Utc>,
}

impl From<DictionaryItem> for DictionaryRecord {
    fn from(item: DictionaryItem) -> Self {
        let DictionaryItem { id, name, avatar, created_at } = item;
        Self { id: id.get(), name: name.into(), avatar: picture(avatar), created_at }
    }
}

/// Defines the dictionaries, which differ only in paths and keys. Some have no endpoint for one entry.
macro_rules! dictionaries {
    ($($dictionary:ident, $names:literal, $about:literal:
        $path:literal as $list:ident $list_of:ident { $items:ident, $count:ident }
        $(, $name:literal $path_of_one:literal as $show:ident $one_of:ident { $item:ident })?;)+) => {
        $(
            list!($list_of { $items: [DictionaryRecord], $count });

            #[utoipa::path(
                tag = "Dictionaries",
                summary = concat!("List ", $names),
                description = $about,
                responses((status = 200, body = $list_of)),
            )]
            #[get($path)]
            async fn $list(staff: SignedInStaff, service: Service<DictionaryService>) -> Answer<$list_of> {
                answer(service.items(&staff, Dictionary::$dictionary).await?)
            }

            $(
                one!($one_of { $item: DictionaryRecord });

                #[utoipa::path(
                    tag = "Dictionaries",
                    summary = concat!("Get ", $name),
                    description = $about,
                    responses((status = 200, body = $one_of)),
                )]
                #[get($path_of_one)]
                async fn $show(
                    staff: SignedInStaff,
                    service: Service<DictionaryService>,
                    id: Path<PathId>,
                ) -> Answer<$one_of> {
                    answer(service.item(&staff, Dictionary::$dictionary, id.parse()?).await?)
                }
            )?
        )+

        fn item_routes(config: &mut ServiceConfig<'_>) {
            $(below(config, $path, |config| {
                config.service($list)$(.service($show))?;
            });)+
        }
    };
}

dictionaries! {
    OrderStatuses, "order statuses",
        "Ids 1 to 6 and 22 have a fixed meaning. Names may be changed.":
        "/api/order_statuses" as list_order_statuses OrderStatusList { order_statuses, order_statuses_count },
        "an order status" "/api/order_statuses/{id}" as show_order_status OrderStatusResponse { order_status };
    NomenclatureKinds, "kinds of item",
        "1: service, 2: goods.":
        "/api/nomenclature_kinds" as list_nomenclature_kinds
            NomenclatureKindList { nomenclature_kinds, nomenclature_kinds_count };
    NomenclatureTypes, "types of item",
        "Types describe items in more detail than kinds do.":
        "/api/nomenclature_types" as list_nomenclature_types
            NomenclatureTypeList { nomenclature_types, nomenclature_types_count };
    Vats, "VAT rates",
        "VAT rates of items.":
        "/api/vats" as list_vats VatList { vats, vats_count },
        "a VAT rate" "/api/vats/{id}" as show_vat VatResponse { vat };
    CounterpartyTypes, "types of customer",
        "1: person, 2: company.":
        "/api/counterparty_types" as list_counterparty_types
            CounterpartyTypeList { counterparty_types, counterparty_types_count },
        "a type of customer" "/api/counterparty_types/{id}" as show_counterparty_type CounterpartyTypeResponse { counterparty_type };
    FileTypes, "types of file",
        "Purpose of a file. 1: employment contract, 2: avatar, 3: order file.":
        "/api/file_types" as list_file_types FileTypeList { file_types, file_types_count },
        "a type of file" "/api/file_types/{id}" as show_file_type FileTypeResponse { file_type };
    CallStatuses, "call statuses",
        "Statuses of calls.":
        "/api/call_statuses" as list_call_statuses CallStatusList { call_statuses, call_statuses_count },
        "a call status" "/api/call_statuses/{id}" as show_call_status CallStatusResponse { call_status };
    TaskStatuses, "task statuses",
        "Statuses of tasks.":
        "/api/task_statuses" as list_task_statuses TaskStatusList { task_statuses, task_statuses_count },
        "a task status" "/api/task_statuses/{id}" as show_task_status TaskStatusResponse { task_status };
    PageTypes, "types of content page",
        "Types of content pages.":
        "/api/page_types" as list_page_types PageTypeList { page_types, page_types_count },
        "a type of content page" "/api/page_types/{id}" as show_page_type PageTypeResponse { page_type };
    BlockTypes, "types of content block",
        "Types of content blocks.":
        "/api/block_types" as list_block_types BlockTypeList { block_types, block_types_count },
        "a type of content block" "/api/block_types/{id}" as show_block_type BlockTypeResponse { block_type };
    IntegrationTypes, "types of integration",
        "Types of integrations.":
        "/api/integration_types" as list_integration_types
            IntegrationTypeList { integration_types, integration_types_count },
        "a type of integration" "/api/integration_types/{id}" as show_integration_type IntegrationTypeResponse { integration_type };
    Objects, "kinds of record",
        "Kinds of record that employees work on.":
        "/api/objects" as list_objects ObjectList { objects, objects_count };
    Cities, "cities",
        "Cities.":
        "/api/cities" as list_cities CityList { cities, cities_count },
        "a city" "/api/cities/{id}" as show_city CityResponse { city };
    SalesStrategies, "sales strategies",
        "1: retail, 2: wholesale, 3: by subscription.":
        "/api/sales_strategies" as list_sales_strategies SalesStrategyList { sales_strategies, sales_strategies_count },
        "a sales strategy" "/api/sales_strategies/{id}" as show_sales_strategy SalesStrategyResponse { sales_strategy };
    SalesChannels, "sales channels",
        "Channels through which goods and services are sold.":
        "/api/sales_channels" as list_sales_channels SalesChannelList { sales_channels, sales_channels_count };
}
