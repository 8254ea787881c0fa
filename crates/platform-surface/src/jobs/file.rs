//! Files of exports.

use std::fs::File;

use actix_web::web::{Data, Path};
use actix_web::{HttpResponse, get};
use kontor_catalog::bulk::{BulkService, ExportDownload};
use kontor_kernel::StoreError;

use crate::sheets::download;
use kontor_web::blocking::blocking;
use kontor_web::{ApiError, PathId, SignedInStaff};

/// Download the file of an export
///
/// Available after the export has succeeded, for 24 hours.
#[utoipa::path(
    tag = "Jobs",
    responses(
        (
            status = 200,
            description = "File contents.",
            content(
                (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
                (String = "text/csv"),
            ),
        ),
        (status = 404, description = "The job is an import, has no file, or its file has expired."),
        (status = 409, description = "The export is not finished."),
    ),
)]
#[get("/api/jobs/{id}/file")]
pub(super) async fn download_job_file(
    staff: SignedInStaff,
    service: Data<BulkService>,
    id: Path<PathId>,
) -> Result<HttpResponse, ApiError> {
    let id = id.parse()?;
    let ExportDownload { kind, format, path } = service.file(&staff, id).await?;
    let opened = blocking(move || File::open(path)).await?;
    let file = opened.map_err(|error| StoreError::Unavailable(error.to_string()))?;
    download(file, &format!("{}-{id}", kind.file_stem()), format)
}
