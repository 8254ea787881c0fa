//! Entity tags: `"<kind>-<numbers>-<version>.<hash of the body>"`.

use actix_web::http::header::{HeaderMap, HeaderName};
use ring::digest;

/// Bytes of the hash in a tag: enough to distinguish two bodies of one version.
const HASH: usize = 8;

/// Tag sent by a client: weakness flag (`W/`) and the text between the quotation marks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SentTag {
    pub is_weak: bool,
    pub opaque: String,
}

/// Value of a precondition header.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tags {
    /// `*`
    Any,
    /// List of one or more tags.
    Listed(Vec<SentTag>),
}

/// Returns the tag of a version without a body. It is sufficient for a write.
pub(super) fn of_version(record: &str, version: i64) -> String {
    format!("\"{record}-{version}\"")
}

/// Returns the tag of a response that shows a version.
pub(super) fn of_body(record: &str, version: i64, body: &[u8]) -> String {
    let hash = digest::digest(&digest::SHA256, body);
    let hash = kontor_kernel::hex(hash.as_ref().get(..HASH).unwrap_or_default());
    format!("\"{record}-{version}.{hash}\"")
}

/// Returns the version of this record that a tag names. The tag may be complete, lack the hash, or be the bare version
/// number from the rows of a table. A weak tag names none.
pub(super) fn version(sent: &SentTag, record: &str) -> Option<i64> {
    let text = Some(&*sent.opaque).filter(|_| !sent.is_weak)?;
    let number = match text.strip_prefix(record).and_then(|rest| rest.strip_prefix('-')) {
        Some(rest) => rest.split_once('.').map_or(rest, |(version, _)| version),
        None => text,
    };
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok()).flatten()
}

/// Returns the tags of a header, which may have several lines. `Err` if they are malformed.
pub(super) fn sent(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Tags>, ()> {
    let lines: Vec<&str> = headers.get_all(name).map(|line| line.to_str().map_err(|_| ())).collect::<Result<_, _>>()?;
    if lines.is_empty() {
        return Ok(None);
    }
    let list = lines.join(",");
    if list.trim() == "*" {
        return Ok(Some(Tags::Any));
    }
    let (mut rest, mut tags) = (list.trim_start_matches([' ', '\t', ',']), Vec::new());
    while !rest.is_empty() {
        let (is_weak, strong) = rest.strip_prefix("W/").map_or((false, rest), |strong| (true, strong));
        let (opaque, after) = strong.strip_prefix('"').and_then(|text| text.split_once('"')).ok_or(())?;
        if !opaque.bytes().all(|byte| byte == b'!' || (b'#'..=b'~').contains(&byte)) {
            return Err(());
        }
        tags.push(SentTag { is_weak, opaque: opaque.to_owned() });
        let after = after.trim_start_matches([' ', '\t']);
        if !after.is_empty() && !after.starts_with(',') {
            return Err(());
        }
        rest = after.trim_start_matches([' ', '\t', ',']);
    }
    if tags.is_empty() { Err(()) } else { Ok(Some(Tags::Listed(tags))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderValue, IF_MATCH};

    fn read(lines: &[&str]) -> Result<Option<Tags>, ()> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(IF_MATCH, HeaderValue::from_str(line).unwrap());
        }
        sent(&headers, &IF_MATCH)
    }

    fn one(is_weak: bool, opaque: &str) -> SentTag {
        SentTag { is_weak, opaque: opaque.to_owned() }
    }

    #[test]
    fn tags_are_read_as_they_may_be_sent() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[" * "]), Ok(Some(Tags::Any)));
        assert_eq!(read(&["\"a\""]), Ok(Some(Tags::Listed(vec![one(false, "a")]))));
        let several = Tags::Listed(vec![one(false, "a,b"), one(true, ""), one(false, "c")]);
        assert_eq!(read(&["\"a,b\" ,, W/\"\"", "\"c\","]), Ok(Some(several)));
        for wrong in
            ["", ",", "a", "7", "\"a", "a\"", "\"a\"\"b\"", "\"a\" \"b\"", "w/\"a\"", "*, \"a\"", "\"a b\"", "\"ä\""]
        {
            assert_eq!(read(&[wrong]), Err(()), "{wrong}");
        }
    }

    #[test]
    fn a_tag_names_a_version_of_its_record_alone() {
        let version = |is_weak, opaque: &str| version(&one(is_weak, opaque), "brands-7");
        assert_eq!(version(false, "brands-7-12.0a1b"), Some(12));
        assert_eq!((version(false, "brands-7-12"), version(false, "12")), (Some(12), Some(12)));
        for other in
            ["brands-8-12", "tags-7-12", "brands-7", "brands-77-1", "brands-7-", "-1", "1.a", "", "brands-7-x.1"]
        {
            assert_eq!(version(false, other), None, "{other}");
        }
        assert_eq!(version(true, "brands-7-12"), None, "a weak tag says nothing about versions");
    }

    #[test]
    fn the_tag_of_a_response_has_version_and_body() {
        assert_eq!(of_body("brands-7", 3, b"{}"), "\"brands-7-3.44136fa355b3678a\"");
        assert_ne!(of_body("brands-7", 3, b"{}"), of_body("brands-7", 3, b"{} "));
        assert_eq!(of_version("brands-7", 3), "\"brands-7-3\"");
    }
}
