//! Content of an application: blocks and menu items.

mod blocks;
mod menu_items;

use kontor_content::PartRefusal;
use kontor_content::model::TreeRefusal;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::ApiError;

/// Registers the tables, whose paths are outside the prefix of the other routes.
pub(super) fn table_routes(config: &mut ServiceConfig<'_>) {
    blocks::table_routes(config);
    menu_items::table_routes(config);
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    blocks::routes(config);
    menu_items::routes(config);
}

/// Errors shared by blocks and menu items. Only the slug has different field names: it is the `identifier` of a block,
/// so each module maps it itself.
impl From<PartRefusal> for ApiError {
    fn from(refusal: PartRefusal) -> Self {
        match refusal {
            PartRefusal::Tree(TreeRefusal::UnknownParent) => {
                Self::invalid("parent_id", "must be the id of a record of the same application")
            }
            PartRefusal::Tree(TreeRefusal::Full) => Self::invalid("id", "has reached the maximum per application"),
            PartRefusal::Tree(refused) => Self::invalid("parent_id", refused),
            PartRefusal::CodeTaken => Self::invalid("code", "is already taken"),
            PartRefusal::SlugTaken => Self::invalid("slug", "is already taken"),
            PartRefusal::UnknownType => Self::invalid("block_type_id", "must be the id of a block type"),
            PartRefusal::HasChildren => Self::invalid("id", "has children"),
        }
    }
}
