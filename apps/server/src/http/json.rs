//! JSON answers of the lists that visitors ask for most.
//!
//! `serde_json` looks at every byte of every text and of every field name by itself. Here a text is looked at as a
//! whole, and goes out as it is unless something in it must be escaped.

use actix_web::body::BoxBody;
use actix_web::http::header::ContentType;
use actix_web::{HttpRequest, HttpResponse, Responder, ResponseError};
use serde::Serialize;
use serde::ser::{self, Impossible};
use serde_json::Error;

use super::ApiError;

/// Room for a page of a list; a longer answer grows it.
const USUAL_SIZE: usize = 12 * 1024;

/// An answer with status `200` and this body.
pub struct Json<T>(pub T);

impl<T: Serialize> Responder for Json<T> {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        match written(&self.0) {
            Ok(body) => HttpResponse::Ok().content_type(ContentType::json()).body(body),
            Err(error) => ApiError::internal(&error).error_response(),
        }
    }
}

fn written(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(USUAL_SIZE);
    value.serialize(Writer(&mut out))?;
    Ok(out)
}

struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn text(&mut self, text: &str) -> Result<(), Error> {
        if must_be_escaped(text.as_bytes()) {
            return serde_json::to_writer(&mut *self.0, text);
        }
        self.0.reserve(text.len() + 2);
        self.0.push(b'"');
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b'"');
        Ok(())
    }
}

/// Whether a quotation mark, a backslash or a control character is among the bytes, eight at a time.
fn must_be_escaped(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 0xFF;
    // The highest bit of each byte that is below `bound`, of the lowest such byte for sure.
    let below = |word: u64, bound: u8| word.wrapping_sub(ONES * u64::from(bound)) & !word & (ONES * 0x80);
    let equal = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let special = |word: u64| below(word, b' ') | equal(word, b'"') | equal(word, b'\\');
    let (words, rest) = bytes.as_chunks::<8>();
    let found = words.iter().fold(0, |found, word| found | special(u64::from_ne_bytes(*word)));
    let mut last = [b' '; 8];
    last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    found | special(u64::from_ne_bytes(last)) != 0
}

/// The elements of a list or the fields of an object, and what ends it.
struct Parts<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
    end: u8,
}

impl<'a> Parts<'a> {
    fn open(out: &'a mut Vec<u8>, begin: u8, end: u8) -> Self {
        out.push(begin);
        Self { out, first: true, end }
    }

    fn next(&mut self) -> Writer<'_> {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        Writer(self.out)
    }

    fn close(self) {
        self.out.push(self.end);
    }
}

macro_rules! as_serde_json {
    ($($name:ident: $type:ty,)+) => {$(
        fn $name(self, value: $type) -> Result<(), Error> {
            serde_json::to_writer(self.0, &value)
        }
    )+};
}

/// Shapes that no record of this service has.
fn unknown<T>() -> Result<T, Error> {
    Err(ser::Error::custom("the shape has no JSON form here"))
}

impl<'a> ser::Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Impossible<(), Error>;

    as_serde_json! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_f32: f32, serialize_f64: f64, serialize_char: char, serialize_bytes: &[u8],
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_str(mut self, value: &str) -> Result<(), Error> {
        self.text(value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(mut self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        unknown()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>, Error> {
        Ok(Parts::open(self.0, b'[', b']'))
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, Error> {
        Ok(Parts::open(self.0, b'[', b']'))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Error> {
        unknown()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        unknown()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>, Error> {
        Ok(Parts::open(self.0, b'{', b'}'))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Error> {
        Ok(Parts::open(self.0, b'{', b'}'))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        unknown()
    }
}

impl ser::SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(self.next())
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeTuple for Parts<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(self.next())
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Error;

    /// Only texts are names of fields.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        let mut name = Vec::new();
        key.serialize(Writer(&mut name))?;
        if !name.starts_with(b"\"") {
            return unknown();
        }
        self.next().0.extend_from_slice(&name);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(b':');
        value.serialize(Writer(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

impl ser::SerializeStruct for Parts<'_> {
    type Ok = ();
    type Error = Error;

    /// Names of fields stand in our own code, where none needs escaping.
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        debug_assert!(!must_be_escaped(name.as_bytes()), "{name}");
        let out = self.next().0;
        out.reserve(name.len() + 3);
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        value.serialize(Writer(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Serialize)]
    struct Inner {
        text: &'static str,
        numbers: Vec<i64>,
        pair: (u8, bool),
    }

    #[derive(Serialize)]
    struct Outer {
        #[serde(flatten)]
        inner: Inner,
        none: Option<u32>,
        some: Option<String>,
        half: f64,
        at: chrono::DateTime<chrono::Utc>,
        anything: serde_json::Value,
    }

    #[test]
    fn the_same_is_written_as_everywhere_else() {
        for text in ["", "plain", "кружка", "a \"quoted\" \\ text", "two\nlines\u{1}", "\u{7f}\u{2028}"] {
            let value = Outer {
                inner: Inner { text, numbers: vec![1, -2, i64::MAX], pair: (7, true) },
                none: None,
                some: Some(text.repeat(3)),
                half: 0.5,
                at: chrono::DateTime::UNIX_EPOCH,
                anything: json!({ "a": [], "b": {}, text: null }),
            };
            assert_eq!(written(&value).unwrap(), serde_json::to_vec(&value).unwrap(), "{text:?}");
            assert_eq!(written(&value.inner).unwrap(), serde_json::to_vec(&value.inner).unwrap(), "{text:?}");
        }
    }
}
