//! Uploaded files.

use std::fs::File;

use actix_web::web::{Data, Path};
use actix_web::{delete, get, post};
use chrono::{DateTime, Utc};
use kontor_content::FileService;
use kontor_content::model::{Dimensions, FileType, ListedFile, StoredFile, UnknownFileType};
use kontor_kernel::listing::Sort;
use kontor_kernel::{OrderId, UserId, Violations};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, TableRequest, list_params};
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::records::Message;
use kontor_web::upload::{Parts, Upload, blocking};
use kontor_web::wire::NamedRecord;
use kontor_web::{PathId, Service, Settings, SignedInStaff, file_contents};

handlers! {
    fn table_routes; FileService, "Files";

    /// List files as a table
    table "/api/tables/files" as list_files_table(FileParams) = page() -> TABLE;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_files).service(upload_file).service(show_file).service(delete_file);
}

/// File.
#[derive(Serialize, ToSchema)]
pub(super) struct FileRecord {
    id: i64,
    /// `1` employment contract, `2` avatar, `3` order file.
    file_type_id: i64,
    /// File name from the upload, with an extension that matches the content.
    name: String,
    /// URL of the content. Avatars are public; other files require an employee's Bearer token. For pictures, `?w=160`,
    /// `320`, `640` or `1280` returns a WebP of at most that width, rotated upright and without metadata.
    url: String,
    /// Media type detected from the content.
    mime_type: String,
    /// Size in bytes.
    size: u64,
    /// Width of a picture, in pixels.
    width: Option<u32>,
    /// Height of a picture, in pixels.
    height: Option<u32>,
    created_at: DateTime<Utc>,
}

impl FileRecord {
    pub(super) fn of(file: StoredFile, config: &Settings) -> Self {
        Self {
            id: file.id.get(),
            file_type_id: file.file_type.id(),
            url: file_contents::url_of(&file.key, config),
            name: file.name.into(),
            mime_type: file.media.mime().to_owned(),
            size: file.content.size,
            width: file.dimensions.map(Dimensions::width),
            height: file.dimensions.map(Dimensions::height),
            created_at: file.created_at,
        }
    }
}

one!(pub(super) FileResponse { file: FileRecord });

/// File in a list.
#[derive(Serialize, ToSchema)]
struct ListedFileRecord {
    #[serde(flatten)]
    file: FileRecord,
    /// Employee who uploaded the file.
    creator: NamedRecord,
    /// Id of the order to which the file was added.
    order_id: Option<i64>,
}

impl ListedFileRecord {
    fn of(listed: ListedFile, config: &Settings) -> Self {
        let ListedFile { file, creator_name } = listed;
        Self {
            creator: NamedRecord::new(file.creator_id, creator_name.unwrap_or_default()),
            order_id: file.order_id.map(OrderId::get),
            file: FileRecord::of(file, config),
        }
    }
}

list!(/// Files of the project.
    FileList { files: [ListedFileRecord], files_count of all, pagination });

/// List files
///
/// Newest first. Includes the files of orders. The URL of a picture also gives smaller copies.
#[utoipa::path(tag = "Files", params(FileParams), responses((status = 200, body = FileList)))]
#[get("/api/files")]
async fn list_files(
    staff: SignedInStaff,
    service: Service<FileService>,
    config: Data<Settings>,
    asked: TableRequest,
) -> Answer<FileList> {
    let page = service.page(&staff, TABLE.listing(asked, 15)?).await?;
    answer(page.map(|file| ListedFileRecord::of(file, &config)))
}

/// Table of `GET /api/tables/files`, with the parameters of `GET /api/files`.
pub(super) const TABLE: Table<ListedFile> = Table {
    id: 54,
    resource: "files",
    version: None,
    columns: &[
        Column::new("id", "No.", |listed| Cell::plain(listed.file.id.get())),
        Column::with_icon("name", "Name", |listed| {
            Cell::linked(listed.file.name.as_str(), format!("/api/files/{}", listed.file.id))
        }),
        Column::new("mime_type", "Type", |listed| Cell::plain(listed.file.media.mime())),
        Column::new("size", "Bytes", |listed| Cell::plain(listed.file.content.size)),
        Column::new("creator", "Added by", |listed| Cell::plain(listed.creator_name.clone())),
        Column::new("created_at", "Added", |listed| Cell::moment(listed.file.created_at)),
    ],
    sorts: &["id", "size", "created_at"],
    filters: &[
        Filter::id::<FileType>("file_type_id", "Of these types."),
        Filter::id::<UserId>("creator_id", "Uploaded by these employees."),
        Filter::id::<OrderId>("order_id", "Of these orders."),
    ],
    search: Some("Part of the name, in any case."),
    period: Some("created_at"),
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/files` and `GET /api/tables/files`.
    FileParams of TABLE
}

/// File to upload.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the multipart body, which is read part by part")]
struct FileUpload {
    /// `1` employment contract (PDF, JPEG, PNG, WebP, DOCX, ODT), `2` avatar (JPEG, PNG, GIF, WebP), `3` order file
    /// (all of these, XLSX and ODS).
    file_type_id: i64,
    /// Content. Its type is detected from the bytes.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    file: String,
}

/// Name of the form field beside the file.
const TYPE: &str = "file_type_id";

/// Checks the received parts and returns the file type, the file name and the file.
fn complete(parts: Parts<File>) -> Result<(FileType, Option<String>, File), Violations> {
    let kind = match parts.texts.get(TYPE) {
        None | Some("") => Err("is required".to_owned()),
        Some(text) => {
            let known = text.parse().map_err(|_| UnknownFileType).and_then(FileType::from_id);
            known.map_err(|unknown| unknown.to_string())
        }
    };
    let mut violations = parts.texts.violations;
    let kind = violations.check(TYPE, kind);
    let file = violations.check("file", parts.file.ok_or("is required"));
    match (kind, file) {
        (Some(kind), Some(file)) if violations.is_empty() => Ok((kind, parts.file_name, file)),
        _ => Err(violations),
    }
}

/// Upload a file
#[utoipa::path(
    tag = "Files",
    request_body(content = FileUpload, content_type = "multipart/form-data"),
    responses(
        (status = 201, body = FileResponse),
        (status = 413, description = "The file is too large."),
        (status = 503, description = "The file storage is unavailable. Nothing was stored.", body = Message),
    ),
)]
#[post("/api/files")]
async fn upload_file(
    mut staff: SignedInStaff,
    service: Service<FileService>,
    config: Data<Settings>,
    upload: Upload,
) -> Created<FileResponse> {
    service.may_upload(&staff)?;
    let (kind, name, content) =
        complete(upload.within(config.files_limit).receive_unnamed(&mut staff, &[TYPE]).await?)?;
    let inspector = service.clone();
    let upload = blocking(move || inspector.inspect(kind, name.as_deref(), content)).await??;
    let file = service.store(&staff, upload).await?;
    created(FileRecord::of(file, &config))
}

/// Get a file
///
/// Returns the record of the file with the URL of its content.
#[utoipa::path(tag = "Files", responses((status = 200, body = FileResponse)))]
#[get("/api/files/{id}")]
async fn show_file(
    staff: SignedInStaff,
    service: Service<FileService>,
    config: Data<Settings>,
    id: Path<PathId>,
) -> Answer<FileResponse> {
    answer(FileRecord::of(service.read(&staff, id.parse()?).await?, &config))
}

/// Delete a file
///
/// The file is deleted even if other records use it. Its URL stops working.
#[utoipa::path(tag = "Files", responses((status = 200, body = Message)))]
#[delete("/api/files/{id}")]
async fn delete_file(staff: SignedInStaff, service: Service<FileService>, id: Path<PathId>) -> Answer<Message> {
    service.delete(&staff, id.parse()?).await?;
    answer(Message::new("The file was deleted."))
}
