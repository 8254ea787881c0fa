//! Where contents are kept.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kontor_content::ports::StorageFailed;
use kontor_kernel::{ExposeSecret, SecretString};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::local::LocalFileSystem;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use tokio::sync::OnceCell;

/// How long a connection to a bucket may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a bucket may be silent.
const SILENCE: Duration = Duration::from_mins(1);
/// How long one call is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(20);

/// A bucket of S3, or of anything that speaks its protocol.
#[derive(Debug, Clone)]
pub struct Bucket {
    /// The address of the service, without the bucket: `https://s3.example.com`.
    pub endpoint: String,
    /// The name of the bucket.
    pub name: String,
    /// The region that requests are signed for.
    pub region: String,
    /// Who we are to it.
    pub access_key: String,
    /// The proof.
    pub secret_key: SecretString,
}

/// A bucket that cannot be used as it is described.
#[derive(Debug, thiserror::Error)]
#[error("the bucket cannot be used: {0}")]
pub struct UnfitBucket(String);

/// Where contents are kept.
#[derive(Debug, Clone)]
pub struct FileStorage {
    place: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Made when the first content comes: a service without files leaves no empty folder.
    Folder {
        path: PathBuf,
        store: Arc<OnceCell<Arc<LocalFileSystem>>>,
    },
    Bucket(Arc<AmazonS3>),
}

impl FileStorage {
    /// A folder of this machine. It is made with the first content.
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::Folder { path: path.into(), store: Arc::default() } }
    }

    /// A bucket; nothing is called yet.
    pub fn bucket(bucket: &Bucket) -> Result<Self, UnfitBucket> {
        // An error means that the process has chosen its TLS provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let address =
            url::Url::parse(&bucket.endpoint).map_err(|_| UnfitBucket("the endpoint is no address".into()))?;
        // A whole call has no limit: how long a content takes is its reader's pace. Silence has one.
        let options = ClientOptions::new()
            .with_allow_http(address.scheme() == "http")
            .with_connect_timeout(CONNECT)
            .with_read_timeout(SILENCE)
            .with_timeout_disabled();
        let retry = RetryConfig { max_retries: 3, retry_timeout: TRY_AGAIN, ..RetryConfig::default() };
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
            .map_err(|error| UnfitBucket(error.to_string()))?;
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

    /// The folder, when it is one.
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
