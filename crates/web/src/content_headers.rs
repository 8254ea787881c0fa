//! Headers of responses with the content of a file.

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, Charset, ContentDisposition, DispositionParam, DispositionType, ETAG,
    EntityTag, ExtendedValue, Header as _, IfNoneMatch, VARY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponseBuilder};
use kontor_content::model::{MediaType, StoredFile};

pub(super) fn is_known(request: &HttpRequest, tag: &EntityTag) -> bool {
    match IfNoneMatch::parse(request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(known)) => known.iter().any(|known| known.weak_eq(tag)),
        Err(_) => false,
    }
}

/// Returns the file name as `filename*`, with an ASCII `filename` for old browsers.
pub(super) fn disposition(name: &str, media: MediaType) -> ContentDisposition {
    let plain = |sign: char| if sign.is_ascii_graphic() && !"\"\\%".contains(sign) || sign == ' ' { sign } else { '_' };
    let extended = ExtendedValue {
        charset: Charset::Ext("UTF-8".to_owned()),
        language_tag: None,
        value: name.as_bytes().to_vec(),
    };
    ContentDisposition {
        disposition: if media.is_image() { DispositionType::Inline } else { DispositionType::Attachment },
        parameters: vec![
            DispositionParam::Filename(name.chars().map(plain).collect()),
            DispositionParam::FilenameExt(extended),
        ],
    }
}

/// Adds the headers of every response about a file content. They set caching and forbid scripts in the content.
pub(super) fn framed(mut answer: HttpResponseBuilder, file: &StoredFile, tag: &EntityTag) -> HttpResponseBuilder {
    let keep = if file.file_type.is_public() { "public, max-age=31536000, immutable" } else { "private, no-cache" };
    answer
        .insert_header((ETAG, tag.to_string()))
        .insert_header((CACHE_CONTROL, keep))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"));
    if !file.file_type.is_public() {
        answer.insert_header((VARY, "Authorization"));
    }
    answer
}
