//! Dictionaries with the same shape, `{id, name, avatar, created_at}`, each defined by one declaration.

use actix_web::get;
use actix_web::web::{Data, Path};
use chrono::{DateTime, Utc};
use kontor_organization::DictionaryService;
use kontor_organization::model::{Dictionary, DictionaryItem};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::envelope::{Answer, answer, list};
use crate::http::records::{Picture, picture};
use crate::http::routes::below;
use crate::http::{PathId, SignedInStaff};

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
    ($($dictionary:ident, $doc:literal:
        $path:literal as $list:ident $list_of:ident { $items:ident, $count:ident }
        $(, $path_of_one:literal as $show:ident $one_of:ident { $item:ident })?;)+) => {
        $(
            list!($list_of { $items: [DictionaryRecord], $count });

            #[doc = $doc]
            #[utoipa::path(tag = "Dictionaries", responses((status = 200, body = $list_of)))]
            #[get($path)]
            async fn $list(staff: SignedInStaff, service: Data<DictionaryService>) -> Answer<$list_of> {
                answer(service.items(&staff, Dictionary::$dictionary).await?)
            }

            $(
                #[derive(Serialize, ToSchema)]
                #[serde(rename_all = "camelCase")]
                struct $one_of {
                    $item: DictionaryRecord,
                }

                #[doc = concat!("One entry. ", $doc)]
                #[utoipa::path(tag = "Dictionaries", responses((status = 200, body = $one_of)))]
                #[get($path_of_one)]
                async fn $show(
                    staff: SignedInStaff,
                    service: Data<DictionaryService>,
                    id: Path<PathId>,
                ) -> Answer<$one_of> {
                    let item = service.item(&staff, Dictionary::$dictionary, id.parse()?).await?;
                    answer($one_of { $item: item.into() })
                }
            )?
        )+

        pub(super) fn routes(config: &mut ServiceConfig<'_>) {
            $(below(config, $path, |config| {
                config.service($list)$(.service($show))?;
            });)+
        }
    };
}

dictionaries! {
    OrderStatuses, "Order statuses. The ids 1-6 and 22 carry meaning, the names do not.":
        "/api/order_statuses" as list_order_statuses OrderStatusList { order_statuses, order_statuses_count },
        "/api/order_statuses/{id}" as show_order_status OneOrderStatus { order_status };
    NomenclatureKinds, "Nomenclature kinds: 1 service, 2 goods.":
        "/api/nomenclature_kinds" as list_nomenclature_kinds
            NomenclatureKindList { nomenclature_kinds, nomenclature_kinds_count };
    NomenclatureTypes, "Nomenclature types: what staff call an item beside its kind.":
        "/api/nomenclature_types" as list_nomenclature_types
            NomenclatureTypeList { nomenclature_types, nomenclature_types_count };
    Vats, "VAT rates.":
        "/api/vats" as list_vats VatList { vats, vats_count },
        "/api/vats/{id}" as show_vat OneVat { vat };
    CounterpartyTypes, "Kinds of customer: 1 person, 2 company.":
        "/api/counterparty_types" as list_counterparty_types
            CounterpartyTypeList { counterparty_types, counterparty_types_count },
        "/api/counterparty_types/{id}" as show_counterparty_type OneCounterpartyType { counterparty_type };
    FileTypes, "What a file is for: 1 employment contract, 2 avatar, 3 order file.":
        "/api/file_types" as list_file_types FileTypeList { file_types, file_types_count },
        "/api/file_types/{id}" as show_file_type OneFileType { file_type };
    CallStatuses, "States of a call.":
        "/api/call_statuses" as list_call_statuses CallStatusList { call_statuses, call_statuses_count },
        "/api/call_statuses/{id}" as show_call_status OneCallStatus { call_status };
    TaskStatuses, "States of a task.":
        "/api/task_statuses" as list_task_statuses TaskStatusList { task_statuses, task_statuses_count },
        "/api/task_statuses/{id}" as show_task_status OneTaskStatus { task_status };
    PageTypes, "Kinds of page.":
        "/api/page_types" as list_page_types PageTypeList { page_types, page_types_count },
        "/api/page_types/{id}" as show_page_type OnePageType { page_type };
    BlockTypes, "Kinds of content block.":
        "/api/block_types" as list_block_types BlockTypeList { block_types, block_types_count },
        "/api/block_types/{id}" as show_block_type OneBlockType { block_type };
    IntegrationTypes, "Kinds of integration.":
        "/api/integration_types" as list_integration_types
            IntegrationTypeList { integration_types, integration_types_count },
        "/api/integration_types/{id}" as show_integration_type OneIntegrationType { integration_type };
    Objects, "The kinds of record that staff work on.":
        "/api/objects" as list_objects ObjectList { objects, objects_count };
    Cities, "Cities.":
        "/api/cities" as list_cities CityList { cities, cities_count },
        "/api/cities/{id}" as show_city OneCity { city };
    SalesStrategies, "How goods and services are sold: 1 retail, 2 wholesale, 3 by subscription.":
        "/api/sales_strategies" as list_sales_strategies SalesStrategyList { sales_strategies, sales_strategies_count },
        "/api/sales_strategies/{id}" as show_sales_strategy OneSalesStrategy { sales_strategy };
    SalesChannels, "Through what goods and services are sold.":
        "/api/sales_channels" as list_sales_channels SalesChannelList { sales_channels, sales_channels_count };
}
