//! Content blocks of the storefront.

use actix_web::get;
use actix_web::web::Path;
use chrono::{DateTime, Utc};
use kontor_content::model::{Node, PartCode, Slug};
use kontor_content::ports::BlockKey;
use kontor_content::{PartViewer, ShownBlock};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, one};
use kontor_web::wire::{NamedRecord, PhotoRecord};
use kontor_web::{ApiError, CallingApp, Service};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(show_block_by_identifier).service(show_block_by_code);
}

/// Block with its child blocks.
#[derive(Serialize, ToSchema)]
struct ClientBlockRecord {
    id: i64,
    /// Code of the block, unique in the application.
    code: i64,
    /// Text identifier of the block, unique in the application.
    identifier: String,
    name: String,
    avatar: Option<PhotoRecord>,
    block_type: NamedRecord,
    link: Option<String>,
    file: Option<PhotoRecord>,
    /// HTML, sanitized like the content of pages.
    text: Option<String>,
    /// Parent block. `null` for a root block.
    parent: Option<NamedRecord>,
    /// Child blocks, ordered by code.
    #[schema(no_recursion)]
    children: Vec<ClientBlockRecord>,
    created_at: DateTime<Utc>,
}

impl From<Node<ShownBlock>> for ClientBlockRecord {
    fn from(node: Node<ShownBlock>) -> Self {
        let ShownBlock { block, html } = node.record;
        Self {
            id: block.id.get(),
            code: block.place.code.get(),
            identifier: block.place.slug.into(),
            name: block.name.into(),
            avatar: block.avatar.map(Into::into),
            block_type: NamedRecord::new(block.block_type.0.get(), block.block_type.1),
            link: block.link.map(Into::into),
            file: block.file.map(Into::into),
            text: html.map(Into::into),
            parent: block.place.parent.map(|(id, name)| NamedRecord::new(id.get(), name)),
            children: node.children.into_iter().map(Into::into).collect(),
            created_at: block.created_at,
        }
    }
}

one!(/// Content block.
    ClientBlockResponse { block: ClientBlockRecord });

/// Get a content block by code
///
/// Returns a block of the calling application with its children.
#[utoipa::path(
    tag = "Client: content",
    params(("code" = i64, Path)),
    responses(
        (status = 200, body = ClientBlockResponse),
        (status = 404, description = "Block not found in the application."),
    ),
)]
#[get("/api/counterparty/blocks/{code}")]
async fn show_block_by_code(
    app: CallingApp,
    parts: Service<PartViewer>,
    code: Path<String>,
) -> Answer<ClientBlockResponse> {
    let code = code.parse().ok().and_then(|code| PartCode::new(code).ok()).ok_or_else(ApiError::not_found)?;
    answer(parts.block(*app, BlockKey::Code(code)).await?)
}

/// Get a content block by identifier
///
/// Returns a block of the calling application with its children.
#[utoipa::path(
    tag = "Client: content",
    params(("identifier" = String, Path)),
    responses(
        (status = 200, body = ClientBlockResponse),
        (status = 404, description = "Block not found in the application."),
    ),
)]
#[get("/api/counterparty/blocks/id/{identifier}")]
async fn show_block_by_identifier(
    app: CallingApp,
    parts: Service<PartViewer>,
    identifier: Path<String>,
) -> Answer<ClientBlockResponse> {
    let slug = Slug::parse(&identifier).map_err(|_| ApiError::not_found())?;
    answer(parts.block(*app, BlockKey::Identifier(slug)).await?)
}
