//! A bucket with the S3 protocol in path style: objects, listings, multipart uploads, ranges of objects, signed
//! requests.

mod api;
mod signature;

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use actix_web::web::Bytes;
use kontor_kernel::hex;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

pub use self::api::{denied, internal_error, routes};
use crate::config::SandboxConfig;
use crate::state::lock;

/// Maximum size of all objects and parts together, in bytes.
const MAX_BYTES: usize = 512 * 1024 * 1024;
/// Minimum size of every part of an upload except the last, in bytes.
const MIN_PART_BYTES: usize = 5 * 1024 * 1024;

/// Access data of the bucket.
pub struct Account {
    pub bucket: String,
    pub region: String,
    pub access_key: String,
    pub secret_key: String,
}

/// The objects of the bucket.
pub struct Storage {
    pub account: Account,
    shelves: Mutex<StorefrontReader>,
}

#[derive(Default)]
struct StorefrontReader {
    objects: BTreeMap<String, Bytes>,
    uploads: HashMap<String, Upload>,
}

/// An incomplete multipart upload.
struct Upload {
    key: String,
    parts: BTreeMap<u32, Bytes>,
}

/// Reason why the bucket refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    NoSuchUpload,
    InvalidPart,
    EntityTooSmall,
    Full,
}

/// Returns the `ETag` of the content.
pub fn etag(content: &[u8]) -> String {
    let mut mark = hex(digest(&SHA256, content).as_ref());
    mark.truncate(32);
    format!("\"{mark}\"")
}

impl StorefrontReader {
    fn has_room_for(&self, more: usize) -> bool {
        let parts = self.uploads.values().flat_map(|upload| upload.parts.values());
        let used: usize = self.objects.values().chain(parts).map(Bytes::len).sum();
        used.saturating_add(more) <= MAX_BYTES
    }
}

impl Storage {
    pub fn new(config: &SandboxConfig) -> Self {
        let account = Account {
            bucket: config.bucket.clone(),
            region: config.bucket_region.clone(),
            access_key: config.bucket_access_key.clone(),
            secret_key: config.bucket_secret_key.clone(),
        };
        Self { account, shelves: Mutex::default() }
    }

    pub fn put(&self, key: &str, content: Bytes) -> Result<(), Refusal> {
        let mut shelves = lock(&self.shelves);
        if !shelves.has_room_for(content.len()) {
            return Err(Refusal::Full);
        }
        shelves.objects.insert(key.to_owned(), content);
        Ok(())
    }

    pub fn get(&self, key: &str) -> Option<Bytes> {
        lock(&self.shelves).objects.get(key).cloned()
    }

    /// Returns the keys with this prefix and the sizes of their objects, in the order of the keys.
    pub fn list(&self, prefix: &str) -> Vec<(String, usize)> {
        let shelves = lock(&self.shelves);
        let found = shelves.objects.iter().filter(|(key, _)| key.starts_with(prefix));
        found.map(|(key, content)| (key.clone(), content.len())).collect()
    }

    pub fn delete(&self, key: &str) {
        lock(&self.shelves).objects.remove(key);
    }

    pub fn begin(&self, id: &str, key: &str) {
        let upload = Upload { key: key.to_owned(), parts: BTreeMap::new() };
        lock(&self.shelves).uploads.insert(id.to_owned(), upload);
    }

    pub fn put_part(&self, id: &str, key: &str, number: u32, content: Bytes) -> Result<(), Refusal> {
        let mut shelves = lock(&self.shelves);
        if !shelves.has_room_for(content.len()) {
            return Err(Refusal::Full);
        }
        let upload = shelves.uploads.get_mut(id).filter(|upload| upload.key == key);
        upload.ok_or(Refusal::NoSuchUpload)?.parts.insert(number, content);
        Ok(())
    }

    /// Assembles an object from the named parts.
    pub fn complete(&self, id: &str, key: &str, named: &[(u32, String)]) -> Result<Bytes, Refusal> {
        let mut shelves = lock(&self.shelves);
        let upload = shelves.uploads.get(id).filter(|upload| upload.key == key).ok_or(Refusal::NoSuchUpload)?;
        let mut content = Vec::new();
        for (place, (number, mark)) in named.iter().enumerate() {
            let part = upload.parts.get(number).filter(|part| etag(part) == *mark).ok_or(Refusal::InvalidPart)?;
            if place + 1 < named.len() && part.len() < MIN_PART_BYTES {
                return Err(Refusal::EntityTooSmall);
            }
            content.extend_from_slice(part);
        }
        let content = Bytes::from(content);
        shelves.uploads.remove(id);
        shelves.objects.insert(key.to_owned(), content.clone());
        Ok(content)
    }

    pub fn abort(&self, id: &str) -> Result<(), Refusal> {
        lock(&self.shelves).uploads.remove(id).map(drop).ok_or(Refusal::NoSuchUpload)
    }

    /// Returns the contents of the bucket, for developers and tests.
    pub fn view(&self) -> Value {
        let shelves = lock(&self.shelves);
        let objects: Vec<Value> =
            shelves.objects.iter().map(|(key, content)| json!({ "key": key, "size": content.len() })).collect();
        json!({ "objects": objects, "uploads": shelves.uploads.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage() -> Storage {
        let clock = std::sync::Arc::new(kontor_kernel::FixedClock::at(chrono::DateTime::UNIX_EPOCH));
        Storage::new(&SandboxConfig::new(clock))
    }

    #[test]
    fn an_upload_is_made_of_the_parts_that_are_named() {
        let storage = storage();
        let (large, small) = (Bytes::from(vec![1; MIN_PART_BYTES]), Bytes::from_static(b"end"));
        storage.begin("u", "k");
        storage.put_part("u", "k", 1, large.clone()).unwrap();
        storage.put_part("u", "k", 2, small.clone()).unwrap();
        assert_eq!(storage.put_part("u", "other", 3, small.clone()), Err(Refusal::NoSuchUpload));
        let (one, two) = ((1, etag(&large)), (2, etag(&small)));
        assert_eq!(storage.complete("u", "k", &[two.clone(), one.clone()]), Err(Refusal::EntityTooSmall));
        assert_eq!(storage.complete("u", "k", &[(1, etag(&small))]), Err(Refusal::InvalidPart));
        assert_eq!(storage.complete("u", "k", &[one, two]).unwrap().len(), MIN_PART_BYTES + 3);
        assert_eq!(storage.abort("u"), Err(Refusal::NoSuchUpload));
        storage.delete("k");
        assert_eq!(storage.view(), json!({ "objects": [], "uploads": 0 }));
    }
}
