//! Content blocks of an application.

use actix_web::web::Path;
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_content::model::{Block, BlockChange, BlockDraft, PlaceChange, PlaceDraft};
use kontor_content::{PartError, PartRefusal, PartService};
use kontor_kernel::listing::Sort;
use kontor_kernel::{BlockId, BlockTypeId, RecordError};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::wire::{self, InputErrors, NamedRecord, PhotoRecord, ZeroIsNull, change_body};
use kontor_web::{ApiError, Body, HistoryList, PathId, Service, SignedInStaff, TwoIds};

handlers! {
    fn table_routes; PartService<Block>, "Content";

    /// List the content blocks of an application as a table
    table "/api/tables/applications/{id}/blocks" as list_blocks_table(BlockParams) = page(id) -> TABLE;
}

handlers! {
    fn part_routes; PartService<Block>, "Content";

    /// List the content blocks of an application
    ///
    /// Ordered by code. Each block contains a reference to its parent.
    list "/api/applications/{id}/blocks" as list_blocks = page(id, rows BlockParams TABLE 100) -> BlockList;

    /// Get a content block
    read "/api/applications/{id}/blocks/{block_id}" as show_block = read(ids) -> BlockResponse;

    /// Delete a content block
    ///
    /// The block must have no children.
    delete "/api/applications/{id}/blocks/{block_id}" as delete_block = delete(ids) -> "The block was deleted.",
        422 "The record has children.";

    /// List the history of a content block
    ///
    /// Newest first.
    list "/api/applications/{id}/blocks/{block_id}/history" as list_block_history = history(ids, page) -> HistoryList;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    part_routes(config);
    config.service(create_block).service(update_block);
}

/// Converts an error. The slug of a block is its field `identifier`.
fn refusal(error: PartError) -> ApiError {
    match error {
        RecordError::Refused(PartRefusal::SlugTaken) => ApiError::invalid("identifier", "belongs to another block"),
        error => error.into(),
    }
}

#[derive(Serialize, ToSchema)]
struct BlockRecord {
    id: i64,
    code: i64,
    identifier: String,
    name: String,
    avatar: Option<PhotoRecord>,
    block_type: NamedRecord,
    link: Option<String>,
    file: Option<PhotoRecord>,
    text: Option<String>,
    parent: Option<NamedRecord>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Block> for BlockRecord {
    fn from(block: Block) -> Self {
        Self {
            id: block.id.get(),
            code: block.place.code.get(),
            identifier: block.place.slug.into(),
            name: block.name.into(),
            avatar: block.avatar.map(Into::into),
            block_type: NamedRecord::new(block.block_type.0.get(), block.block_type.1),
            link: block.link.map(Into::into),
            file: block.file.map(Into::into),
            text: block.text.map(Into::into),
            parent: block.place.parent.map(|(id, name)| NamedRecord::new(id.get(), name)),
            created_at: block.created_at,
            updated_at: block.updated_at,
        }
    }
}

one!(/// Content block.
    BlockResponse { block: BlockRecord });
list!(/// Content blocks of an application.
    BlockList { blocks: [BlockRecord], blocks_count of all, pagination });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewBlock {
    name: wire::Name,
    block_type_id: wire::BlockTypeId,
    /// Unique in the application. By default, one more than the largest code.
    #[deserr(default)]
    code: Option<wire::PartCode>,
    /// Unique in the application. By default, derived from the name.
    #[deserr(default)]
    identifier: Option<wire::Slug>,
    /// Parent block in the same application.
    #[deserr(default)]
    #[schema(value_type = Option<wire::BlockId>)]
    parent_id: ZeroIsNull<wire::BlockId>,
    #[deserr(default)]
    avatar: Option<wire::PhotoUrl>,
    #[deserr(default)]
    link: Option<wire::Link>,
    #[deserr(default)]
    file: Option<wire::PhotoUrl>,
    #[deserr(default)]
    text: Option<wire::Prose>,
}

impl From<NewBlock> for BlockDraft {
    fn from(new: NewBlock) -> Self {
        Self {
            place: PlaceDraft {
                parent_id: new.parent_id.0.map(|id| id.0),
                code: new.code.map(|code| code.0),
                slug: new.identifier.map(|slug| slug.0),
            },
            name: new.name.0,
            avatar: new.avatar.map(|url| url.0),
            block_type_id: new.block_type_id.0,
            link: new.link.map(|link| link.0),
            file: new.file.map(|url| url.0),
            text: new.text.map(|text| text.0),
        }
    }
}

/// Create a content block
///
/// An application can have at most 2,000 blocks in 16 levels.
#[utoipa::path(
    tag = "Content",
    request_body = NewBlock,
    responses((status = 201, body = BlockResponse)),
    extensions(("x-zero-to-null" = json!(["parent_id"]))),
)]
#[post("/api/applications/{id}/blocks")]
async fn create_block(
    staff: SignedInStaff,
    service: Service<PartService<Block>>,
    id: Path<PathId>,
    body: Body<NewBlock>,
) -> Created<BlockResponse> {
    created(service.create(&staff, id.parse()?, body.0.into()).await.map_err(refusal)?)
}

change_body! {
    ChangedBlock {
        name: wire::Name,
        block_type_id: wire::BlockTypeId,
        code: wire::PartCode,
        identifier: wire::Slug,
        /// `null` makes the block a root. Its children move with it.
        parent_id: wire::BlockId | null | 0,
        avatar: wire::PhotoUrl | null,
        link: wire::Link | null,
        file: wire::PhotoUrl | null,
        text: wire::Prose | null,
    }
}

impl From<ChangedBlock> for BlockChange {
    fn from(changed: ChangedBlock) -> Self {
        Self {
            place: PlaceChange {
                parent_id: changed.parent_id.into(),
                code: changed.code.into(),
                slug: changed.identifier.into(),
            },
            name: changed.name.into(),
            avatar: changed.avatar.into(),
            block_type_id: changed.block_type_id.into(),
            link: changed.link.into(),
            file: changed.file.into(),
            text: changed.text.into(),
        }
    }
}

/// Update a content block
///
/// Fields that are not sent keep their values.
#[utoipa::path(
    tag = "Content",
    request_body = ChangedBlock,
    responses((status = 200, body = BlockResponse)),
    extensions(("x-zero-to-null" = json!(["parent_id"]))),
)]
#[put("/api/applications/{id}/blocks/{block_id}")]
async fn update_block(
    staff: SignedInStaff,
    service: Service<PartService<Block>>,
    path: TwoIds,
    body: Body<ChangedBlock>,
) -> Answer<BlockResponse> {
    let changed = service.update(&staff, path.0.parse()?, path.1.parse()?, body.0.into()).await;
    answer(changed.map_err(refusal)?)
}

/// Table of `GET /api/tables/applications/{id}/blocks`.
const TABLE: Table<Block> = Table {
    id: 52,
    resource: "blocks",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |block| Cell::plain(block.id.get())),
        Column::new("code", "Code", |block| Cell::plain(block.place.code.get())),
        Column::new("identifier", "Identifier", |block| Cell::plain(block.place.slug.as_str())),
        Column::with_icon("name", "Name", |block| Cell::Linked {
            value: block.name.as_str().into(),
            icon: block.avatar.as_ref().map(ToString::to_string),
            link: Some(format!("/api/applications/{}/blocks/{}", block.place.application_id, block.id)),
        }),
        Column::new("block_type", "Type", |block| Cell::plain(block.block_type.1.as_str())),
        Column::new("parent", "In", |block| Cell::plain(block.place.parent.as_ref().map(|(_, name)| name.as_str()))),
        Column::new("created_at", "Created", |block| Cell::moment(block.created_at)),
        Column::new("updated_at", "Changed", |block| Cell::moment(block.updated_at)),
    ],
    sorts: &["id", "code", "name", "created_at", "updated_at"],
    filters: &[
        Filter::id::<BlockTypeId>("block_type_id", "Of these types."),
        Filter::id::<BlockId>("parent_id", "Right below these blocks."),
    ],
    search: Some("Part of the name, in any case."),
    period: Some("created_at"),
    order: Sort::ascending("code"),
};

list_params! {
    /// Query parameters of `GET /api/applications/{id}/blocks` and `GET /api/tables/applications/{id}/blocks`.
    BlockParams of TABLE
}
