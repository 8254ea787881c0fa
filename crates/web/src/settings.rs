//! Settings of the HTTP kit and of the surfaces.

/// Settings that handlers read. The process fills them in from its configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Public URL of the service, without a path.
    pub public_url: String,
    /// Maximum size of a JSON body, in bytes.
    pub body_limit: usize,
    /// Maximum time for receiving a JSON body, in seconds.
    pub body_seconds: u32,
    /// Maximum memory of request bodies, over all connections, in megabytes.
    pub body_memory_mb: u32,
    /// Maximum size of an uploaded file, in bytes, except for imports.
    pub upload_limit: u64,
    /// Maximum size of a file for `POST /api/files`, in bytes.
    pub files_limit: u64,
    /// Maximum size of an import file, in bytes.
    pub import_limit: u64,
    /// Maximum size of an import file that is processed within the request, in bytes; larger files become jobs.
    pub import_inline_bytes: u64,
    /// Maximum number of rows of an import that is processed within the request; larger imports become jobs.
    pub import_inline_rows: u32,
}
