//! Files of an order.

use std::fs::File;

use actix_web::web::{Data, Path};
use actix_web::{get, post};
use kontor_content::FileService;
use kontor_content::model::{FileType, ListedFile};
use kontor_kernel::listing::Sort;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use crate::files::{self, FileRecord, FileResponse};
use crate::table::{Table, list_params};
use kontor_web::envelope::{Created, created};
use kontor_web::records::Message;
use kontor_web::upload::{Parts, Upload, blocking};
use kontor_web::{PathId, Service, Settings, SignedInStaff};

handlers! {
    fn table_routes; FileService, "Orders";

    /// List the files of an order as a table
    ///
    /// Newest first. To remove a file, use `DELETE /api/files/{id}`.
    table "/api/tables/orders/{id}/files" as list_order_files_table(OrderFileParams) = of_order(id) -> FILES;
}

const FILES: Table<ListedFile> = Table {
    id: 36,
    resource: "files",
    version: None,
    columns: files::TABLE.columns,
    sorts: &["id", "name", "size", "created_at"],
    filters: &[],
    search: None,
    period: None,
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/orders/{id}/files`.
    OrderFileParams of FILES
}

/// File to add to an order.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the multipart body, which is read part by part")]
struct OrderFileUpload {
    /// Content: PDF, JPEG, PNG, GIF, WebP, DOCX, ODT, XLSX or ODS. Its type is detected from the bytes.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    file: String,
}

/// Add a file to an order
///
/// Only staff can read the content. The file is deleted when the customer is deleted.
#[utoipa::path(
    tag = "Orders",
    request_body(content = OrderFileUpload, content_type = "multipart/form-data"),
    responses(
        (status = 201, body = FileResponse),
        (status = 413, description = "The file is too large."),
        (status = 503, description = "The file storage is unavailable. Nothing was stored.", body = Message),
    ),
)]
#[post("/api/orders/{id}/files")]
pub(super) async fn add_order_file(
    mut staff: SignedInStaff,
    service: Service<FileService>,
    config: Data<Settings>,
    id: Path<PathId>,
    upload: Upload,
) -> Created<FileResponse> {
    let order = id.parse()?;
    service.may_add_to_order(&staff, order).await?;
    let Parts::<File> { texts, file, file_name, .. } =
        upload.within(config.files_limit).receive_unnamed(&mut staff, &[]).await?;
    let mut violations = texts.violations;
    let Some(content) = violations.check("file", file.ok_or("is required")).filter(|_| violations.is_empty()) else {
        return Err(violations.into());
    };
    let inspector = service.clone();
    let upload = blocking(move || inspector.inspect(FileType::OrderFile, file_name.as_deref(), content)).await??;
    created(FileRecord::of(service.add_to_order(&staff, order, upload).await?, &config))
}
