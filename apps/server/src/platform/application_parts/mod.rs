//! What an application shows beside goods: blocks, and the items of its menus.

mod blocks;
mod menu_items;

use kontor_content::PartRefusal;
use kontor_content::model::TreeRefusal;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::ApiError;

/// The tables lie elsewhere.
pub(super) fn table_routes(config: &mut ServiceConfig<'_>) {
    blocks::table_routes(config);
    menu_items::table_routes(config);
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    blocks::routes(config);
    menu_items::routes(config);
}

/// Both kinds name their fields alike but for the slug, which is the `identifier` of a block; each maps that one by itself.
impl From<PartRefusal> for ApiError {
    fn from(refusal: PartRefusal) -> Self {
        match refusal {
            PartRefusal::Tree(TreeRefusal::UnknownParent) => {
                Self::invalid("parent_id", "names none of the same application")
            }
            PartRefusal::Tree(TreeRefusal::Full) => Self::invalid("id", "has as many as an application may have"),
            PartRefusal::Tree(refused) => Self::invalid("parent_id", refused),
            PartRefusal::CodeTaken => Self::invalid("code", "is that of another one"),
            PartRefusal::SlugTaken => Self::invalid("slug", "is that of another one"),
            PartRefusal::UnknownType => Self::invalid("block_type_id", "names no block type"),
            PartRefusal::HasChildren => Self::invalid("id", "has others below it"),
        }
    }
}
