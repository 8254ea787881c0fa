//! Keys of calls that were previewed.
//!
//! The result of a preview names its hash and the key of the call. The same call with the hash has that key, even if the
//! client does not send it. So a call that is repeated after its preview never acts twice.

use kontor_auth::model::canonical;
use kontor_kernel::{TokenId, hex};
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};

use crate::api::ApiAnswer;
use crate::arguments::{DRY_RUN, KEY, PREVIEW_HASH, TAG, is_set};

/// Field of a preview with the record as it is.
const BEFORE: &str = "before";
/// Arguments that do not change the effect of a call.
const APART: [&str; 4] = [DRY_RUN, KEY, PREVIEW_HASH, TAG];

/// Call of a tool, or its preview.
#[derive(Clone, Copy)]
pub struct PreviewedCall<'a> {
    /// Token of the caller.
    pub token: TokenId,
    /// Name of the tool.
    pub tool: &'a str,
    /// Arguments.
    pub arguments: &'a Map<String, Value>,
}

/// Returns the path that shows the record of a write: up to its last id.
pub fn record_path(path: &str) -> Option<String> {
    let path = path.split('?').next()?;
    let segments: Vec<&str> = path.split('/').collect();
    let last = segments.iter().rposition(|segment| segment.parse::<u64>().is_ok())?;
    Some(segments.get(..=last)?.join("/"))
}

/// Adds the record as it is, and its version, to a preview.
pub fn add_before(preview: &mut ApiAnswer, record: ApiAnswer) {
    if let (true, Value::Object(fields)) = (record.status.is_success(), &mut preview.body) {
        fields.insert(BEFORE.to_owned(), record.body);
        preview.etag = record.etag;
    }
}

fn hash(value: &Value) -> String {
    hex(digest(&SHA256, canonical(value).as_bytes()).as_ref())
}

impl PreviewedCall<'_> {
    /// Returns `true` if the call asks for a preview.
    pub fn is_preview(self) -> bool {
        self.arguments.get(DRY_RUN).is_some_and(is_set)
    }

    /// Returns the key of the call after a preview.
    pub fn key(self, preview_hash: &str) -> String {
        let arguments = self.arguments.iter().filter(|(name, _)| !APART.contains(&name.as_str()));
        let arguments: Map<String, Value> = arguments.map(|(name, value)| (name.clone(), value.clone())).collect();
        hash(&json!([self.token.get(), self.tool, arguments, preview_hash]))
    }

    /// Adds the hash of a preview and the key of the call to the preview.
    pub fn name_key(self, preview: &mut Value) {
        let preview_hash = hash(preview);
        if let Value::Object(fields) = preview {
            fields.insert(KEY.to_owned(), self.key(&preview_hash).into());
            fields.insert(PREVIEW_HASH.to_owned(), preview_hash.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call<'a>(token: i64, tool: &'a str, arguments: &'a Value) -> PreviewedCall<'a> {
        PreviewedCall { token: TokenId::new(token).unwrap(), tool, arguments: arguments.as_object().unwrap() }
    }

    #[test]
    fn the_key_depends_on_the_token_the_tool_the_arguments_and_the_preview() {
        let arguments = json!({ "order_id": 3, "everything": true });
        let key = call(7, "refund_order", &arguments).key("p");
        assert_eq!(key.len(), 64);
        let same = json!({ "everything": true, "order_id": 3, "dry_run": true, "etag": "\"orders-3-1\"", "preview_hash": "p" });
        assert_eq!(call(7, "refund_order", &same).key("p"), key);
        let other = json!({ "order_id": 4, "everything": true });
        for another in [
            call(8, "refund_order", &arguments).key("p"),
            call(7, "update_order", &arguments).key("p"),
            call(7, "refund_order", &other).key("p"),
            call(7, "refund_order", &arguments).key("q"),
        ] {
            assert_ne!(another, key);
        }
    }

    #[test]
    fn the_record_of_a_write_is_at_its_last_id() {
        for (path, record) in [
            ("/api/tasks/7", Some("/api/tasks/7")),
            ("/api/subscriptions/7/pause?a=1", Some("/api/subscriptions/7")),
            ("/api/tasks", None),
        ] {
            assert_eq!(record_path(path).as_deref(), record, "{path}");
        }
    }

    #[test]
    fn a_preview_names_the_key_of_its_call() {
        let dry = json!({ "order_id": 3, "dry_run": true });
        let mut preview = json!({ "order": { "id": 3 } });
        call(7, "refund_order", &dry).name_key(&mut preview);
        let hash = preview["preview_hash"].as_str().unwrap();
        assert_eq!(preview["idempotency_key"], call(7, "refund_order", &json!({ "order_id": 3 })).key(hash));
        for (asked, expected) in [(json!(true), true), (json!("1"), true), (json!(false), false), (json!(null), false)]
        {
            assert_eq!(call(7, "refund_order", &json!({ "dry_run": asked })).is_preview(), expected);
        }
    }
}
