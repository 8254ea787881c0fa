//! Contents of files in a local folder or an S3-compatible bucket, and recognition of their types.
//!
//! **Owns** the location of contents and of copies of the database, their transfer in pieces, the recognition of types,
//! and the files of imports and exports.
//!
//! **Invariants**
//! - For contents of any size, only a few pieces are in memory, at most [`PART_BYTES`] bytes each, or a 10,000th of a
//!   content that is larger than 10,000 such pieces.
//! - A content is stored completely or not at all. A stored content has reached the disk, or the bucket has confirmed
//!   it.
//! - Names of contents consist of numbers and keys; client input is never part of a path.
//! - The type of a content is derived from its bytes. The content must be complete: pictures are decoded, archives are
//!   unpacked without storing, and the end of a PDF must lead to its objects. Unpacking is bounded. One picture at a
//!   time is completely in memory, with at most 16 bytes a pixel.
//! - Smaller copies of a picture are stored beside its content and removed with it.
//! - A copy of the database has its checksum in its name, and is verified when it is read.
//!
//! **Implements** [`kontor_content::ports::FileStore`], [`kontor_content::ports::ContentInspector`],
//! [`kontor_content::ports::PictureResizer`] and [`kontor_catalog::bulk::ports::UploadStore`].
//!
//! ```
//! use std::io::Write;
//! use kontor_adapter_files::Inspector;
//! use kontor_content::model::{MediaType, Inspection};
//! use kontor_content::ports::ContentInspector;
//!
//! let mut file = tempfile::tempfile()?;
//! file.write_all(b"%PDF-1.7\n")?;
//! assert_eq!(Inspector.inspect(&file)?, Inspection::Damaged(MediaType::Pdf));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backups;
mod inspect;
mod picture;
mod store;
mod uploads;

pub use backups::StoredBackup;
pub use inspect::Inspector;
pub use store::PART_BYTES;
pub use uploads::FolderUploads;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kontor_content::ports::StorageFailed;
use kontor_kernel::{ExposeSecret, SecretString};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::local::LocalFileSystem;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use tokio::sync::OnceCell;

/// Timeout for a connection to a bucket.
const CONNECT: Duration = Duration::from_secs(5);
/// Maximum time without data from a bucket.
const READ_TIMEOUT: Duration = Duration::from_mins(1);
/// Maximum time for retries of one call.
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);

/// A bucket of S3, or of a compatible service.
#[derive(Debug, Clone)]
pub struct Bucket {
    /// Address of the service, without the bucket: `https://s3.example.com`.
    pub endpoint: String,
    /// Name of the bucket.
    pub name: String,
    /// Region used for signing requests.
    pub region: String,
    /// Access key.
    pub access_key: String,
    /// Secret key.
    pub secret_key: SecretString,
}

/// A bucket configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the bucket cannot be used: {0}")]
pub struct InvalidBucket(String);

/// Storage location of contents.
#[derive(Debug, Clone)]
pub struct FileStorage {
    place: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Created with the first content: a service without files leaves no empty folder.
    Folder {
        path: PathBuf,
        store: Arc<OnceCell<Arc<LocalFileSystem>>>,
    },
    Bucket(Arc<AmazonS3>),
}

impl FileStorage {
    /// Uses a folder of this machine. It is created with the first content.
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::Folder { path: path.into(), store: Arc::default() } }
    }

    /// Uses a bucket, without a call.
    pub fn bucket(bucket: &Bucket) -> Result<Self, InvalidBucket> {
        // An error means that the process has chosen its TLS provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let address =
            url::Url::parse(&bucket.endpoint).map_err(|_| InvalidBucket("the endpoint is not a valid URL".into()))?;
        // A whole call has no timeout, because the reader determines its pace. Time without data has one.
        let options = ClientOptions::new()
            .with_allow_http(address.scheme() == "http")
            .with_connect_timeout(CONNECT)
            .with_read_timeout(READ_TIMEOUT)
            .with_timeout_disabled();
        let retry = RetryConfig { max_retries: 3, retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
        let store = AmazonS3Builder::new()
            .with_endpoint(bucket.endpoint.trim_end_matches('/'))
            .with_bucket_name(&bucket.name)
            .with_region(&bucket.region)
            .with_access_key_id(&bucket.access_key)
            .with_secret_access_key(bucket.secret_key.expose_secret())
            .with_disable_bulk_delete(true)
            .with_client_options(options)
            .with_retry(retry)
            .build()
            .map_err(|error| InvalidBucket(error.to_string()))?;
        Ok(Self { place: Place::Bucket(Arc::new(store)) })
    }

    pub(crate) async fn store(&self) -> Result<Arc<dyn ObjectStore>, StorageFailed> {
        match &self.place {
            Place::Bucket(bucket) => Ok(bucket.clone()),
            Place::Folder { path, store } => {
                let open = || async {
                    let mut private = tokio::fs::DirBuilder::new();
                    private.recursive(true).mode(0o700).create(path).await.map_err(failed)?;
                    let folder = LocalFileSystem::new_with_prefix(path).map_err(failed)?;
                    Ok::<_, StorageFailed>(Arc::new(folder.with_fsync(true)))
                };
                let folder = store.get_or_try_init(open).await?;
                Ok(Arc::<LocalFileSystem>::clone(folder))
            }
        }
    }

    /// Returns the path if the storage is a folder.
    pub(crate) fn as_folder(&self) -> Option<&PathBuf> {
        match &self.place {
            Place::Folder { path, .. } => Some(path),
            Place::Bucket(_) => None,
        }
    }
}

pub(crate) fn failed(error: impl std::fmt::Display) -> StorageFailed {
    StorageFailed(error.to_string())
}
