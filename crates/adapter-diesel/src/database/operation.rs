//! Reports of a write operation about itself: the cached data that it changes, and its part in the request it belongs
//! to. They are kept by the connection that runs the operation, and every attempt begins without any.

use super::AnyConnection;
use super::idempotency::KeyOwner;
use super::invalidation::{Invalidations, Topic};

/// Record that an operation created, changed or deleted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub resource: &'static str,
    pub id: i64,
    /// `true` if the record was created. A created record takes precedence over others.
    pub is_new: bool,
}

/// Reports of an operation so far.
#[derive(Debug, Default)]
pub(super) struct Operation {
    pub invalidations: Invalidations,
    pub named: Option<Named>,
    is_preparation: bool,
    /// Owners whose keys it deleted.
    without_keys: Vec<KeyOwner>,
}

impl Operation {
    /// `true` if a request of this owner stores its key with the operation.
    pub fn stores_key_of(&self, owner: KeyOwner) -> bool {
        !self.is_preparation && !self.without_keys.contains(&owner)
    }
}

impl AnyConnection {
    /// Notes that the operation changes data of this topic in this project.
    pub(crate) fn invalidate(&mut self, topic: Topic, project: i64) {
        self.operation.invalidations.insert(topic, project);
    }

    /// Notes that the operation changes data of every topic in any project.
    pub(crate) fn invalidate_everything(&mut self) {
        self.operation.invalidations.insert_everything();
    }

    /// Notes that the operation writes to tables of this topic without changing cached data.
    pub(crate) fn declare_unchanged(&mut self, topic: Topic) {
        self.operation.invalidations.declare_unchanged(topic);
    }

    /// Notes the record that the operation created.
    pub(crate) fn note_created(&mut self, resource: &'static str, id: i64) {
        self.note_record(resource, id, true);
    }

    /// Notes the record that the operation is about, so that its state can be returned if the response is lost.
    pub(crate) fn note_record(&mut self, resource: &'static str, id: i64, is_new: bool) {
        let named = &mut self.operation.named;
        if named.is_none_or(|named| is_new && !named.is_new) {
            *named = Some(Named { resource, id, is_new });
        }
    }

    /// Notes that the operation only prepares the request and stores no key. If nothing follows, a repeated request
    /// runs again and finds the preparation done.
    pub(crate) fn note_preparation(&mut self) {
        self.operation.is_preparation = true;
    }

    /// Notes that all keys of an owner are deleted, including the key of the current request.
    pub(super) fn note_keys_deleted(&mut self, owner: KeyOwner) {
        self.operation.without_keys.push(owner);
    }
}
