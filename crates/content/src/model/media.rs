//! What a content is.

use kontor_kernel::{Name, TextError};

use super::PictureWidth;

macro_rules! media {
    ($($(#[$doc:meta])* $variant:ident = $mime:literal, $title:literal, $endings:expr;)+) => {
        /// The contents that are known. What else comes is refused, whatever it calls itself.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum MediaType { $($(#[$doc])* $variant,)+ }

        impl MediaType {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The media type as the wire names it.
            pub fn mime(self) -> &'static str {
                match self { $(Self::$variant => $mime,)+ }
            }

            /// How people call it.
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            /// How names of such files end; the usual ending first.
            pub fn endings(self) -> &'static [&'static str] {
                match self { $(Self::$variant => $endings,)+ }
            }
        }
    };
}

media! {
    /// A photo.
    Jpeg = "image/jpeg", "JPEG", &["jpg", "jpeg", "jpe", "jfif"];
    /// A picture.
    Png = "image/png", "PNG", &["png"];
    /// A picture that may move.
    Gif = "image/gif", "GIF", &["gif"];
    /// A picture or photo.
    Webp = "image/webp", "WebP", &["webp"];
    /// A document as it is printed.
    Pdf = "application/pdf", "PDF", &["pdf"];
    /// A document of Office Open XML.
    Docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "DOCX", &["docx"];
    /// A workbook of Office Open XML.
    Xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "XLSX", &["xlsx"];
    /// A text of `OpenDocument`.
    Odt = "application/vnd.oasis.opendocument.text", "ODT", &["odt"];
    /// A workbook of `OpenDocument`.
    Ods = "application/vnd.oasis.opendocument.spreadsheet", "ODS", &["ods"];
}

/// A text that names no known content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no media type `{0}`")]
pub struct UnknownMediaType(String);

/// The longest name that is kept of a file, in characters.
const LONGEST_LABEL: usize = 255;

/// Characters that turn the direction of the text around them: a name with one of them shows another ending than it has.
fn turns_around(sign: char) -> bool {
    matches!(sign, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

impl MediaType {
    /// The media type with this name on the wire.
    pub fn parse(mime: &str) -> Result<Self, UnknownMediaType> {
        let found = Self::ALL.iter().find(|media| media.mime() == mime);
        found.copied().ok_or_else(|| UnknownMediaType(mime.to_owned()))
    }

    /// Whether browsers show it as a picture.
    pub fn is_image(self) -> bool {
        matches!(self, Self::Jpeg | Self::Png | Self::Gif | Self::Webp)
    }

    /// The name under which a file is shown and saved: what its sender called it, without folders, control characters and
    /// signs that hide the ending, and with an ending that tells the truth.
    pub fn label(self, original: Option<&str>) -> Result<Name, TextError> {
        let last = original.unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
        let clean: String = last.chars().filter(|sign| !sign.is_control() && !turns_around(*sign)).collect();
        let clean = clean.trim_matches(|sign: char| sign == '.' || sign.is_whitespace());
        let ending = self.endings().first().copied().unwrap_or("bin");
        let (stem, own) = match clean.rsplit_once('.') {
            Some((stem, own)) if !stem.is_empty() && self.endings().contains(&own.to_lowercase().as_str()) => {
                (stem, own)
            }
            _ => (clean, ending),
        };
        let stem = if stem.is_empty() { "file" } else { stem };
        let room = LONGEST_LABEL.saturating_sub(own.chars().count() + 1);
        let short: String = stem.chars().take(room).collect();
        Name::parse(&format!("{}.{own}", short.trim_end()))
    }
}

/// Why a picture is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a picture of at most {} pixels a side and {} pixels in all",
    Dimensions::MOST_SIDE,
    Dimensions::MOST_PIXELS
)]
pub struct DimensionsRefused;

/// The size of a picture, in pixels. What a small file unpacks to when it is shown is bounded by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    width: u32,
    height: u32,
}

impl Dimensions {
    /// The longest side.
    pub const MOST_SIDE: u32 = 16_384;
    /// The most pixels in all.
    pub const MOST_PIXELS: u64 = 50_000_000;
    /// The longest side of a WebP.
    const MOST_WEBP_SIDE: u32 = 16_383;

    /// Checks the bounds; a picture has at least one pixel.
    pub fn new(width: u64, height: u64) -> Result<Self, DimensionsRefused> {
        let side = |side: u64| u32::try_from(side).ok().filter(|side| (1..=Self::MOST_SIDE).contains(side));
        let (Some(width), Some(height)) = (side(width), side(height)) else { return Err(DimensionsRefused) };
        if u64::from(width) * u64::from(height) > Self::MOST_PIXELS {
            Err(DimensionsRefused)
        } else {
            Ok(Self { width, height })
        }
    }

    /// The size of a smaller copy: at most this wide and as high as a WebP may be, in the same proportions, never enlarged.
    #[must_use]
    pub fn within(self, width: PictureWidth) -> Self {
        let scaled = |length: u32, to: u32, from: u32| {
            let (length, to, from) = (u64::from(length), u64::from(to), u64::from(from.max(1)));
            u32::try_from((length * to + from / 2) / from).unwrap_or(u32::MAX).max(1)
        };
        let narrow = width.pixels().min(self.width);
        let height = scaled(self.height, narrow, self.width);
        if height <= Self::MOST_WEBP_SIDE {
            Self { width: narrow, height }
        } else {
            Self { width: scaled(self.width, Self::MOST_WEBP_SIDE, self.height), height: Self::MOST_WEBP_SIDE }
        }
    }

    /// From left to right.
    pub fn width(self) -> u32 {
        self.width
    }

    /// From top to bottom.
    pub fn height(self) -> u32 {
        self.height
    }
}

/// What looking at a content has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sighting {
    /// A picture with the size that its header tells, in pixels.
    Image {
        /// Which one.
        media: MediaType,
        /// From left to right.
        width: u64,
        /// From top to bottom.
        height: u64,
    },
    /// Something that is no picture.
    Document(MediaType),
    /// It begins as a known content and does not go on as one.
    Damaged(MediaType),
    /// A document that runs programs when it is opened.
    WithMacros,
    /// Nothing known.
    Unknown,
    /// Nothing at all.
    Empty,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_label_and_tells_the_truth() {
        for (media, original, label) in [
            (MediaType::Png, Some("me.png"), "me.png"),
            (MediaType::Jpeg, Some("Фото.JPEG"), "Фото.JPEG"),
            (MediaType::Jpeg, Some("../../etc/passwd"), "passwd.jpg"),
            (MediaType::Pdf, Some("C:\\a\\b.pdf"), "b.pdf"),
            (MediaType::Pdf, Some("a\r\nSet-Cookie: x\".pdf"), "aSet-Cookie: x\".pdf"),
            (MediaType::Pdf, Some("invoice\u{202E}fdp.exe"), "invoicefdp.exe.pdf"),
            (MediaType::Png, Some("..."), "file.png"),
            (MediaType::Png, Some(".png"), "png.png"),
            (MediaType::Png, Some(""), "file.png"),
            (MediaType::Png, None, "file.png"),
            (MediaType::Png, Some("a/"), "file.png"),
        ] {
            assert_eq!(media.label(original).unwrap().as_str(), label, "{original:?}");
        }
        let long = MediaType::Jpeg.label(Some(&format!("{}.jpeg", "ё".repeat(400)))).unwrap();
        assert_eq!((long.chars().count(), long.ends_with("ё.jpeg")), (255, true));
    }

    #[test]
    fn a_picture_has_bounds() {
        assert!(Dimensions::new(1, 1).is_ok() && Dimensions::new(16_384, 3_000).is_ok());
        for (width, height) in [(0, 5), (5, 0), (16_385, 1), (1, 16_385), (10_000, 5_001), (u64::MAX, u64::MAX)] {
            assert_eq!(Dimensions::new(width, height), Err(DimensionsRefused), "{width}x{height}");
        }
    }

    #[test]
    fn a_smaller_copy_keeps_the_proportions_and_is_never_enlarged() {
        for (width, height, at_most, copy) in [
            (4_000, 2_250, "320", (320, 180)),
            (3_000, 2_000, "160", (160, 107)),
            (320, 200, "320", (320, 200)),
            (100, 50, "1280", (100, 50)),
            (10_000, 1, "160", (160, 1)),
            (1_000, 16_384, "1280", (1_000, 16_383)),
            (1, 16_384, "160", (1, 16_383)),
            (3_000, 16_384, "1280", (1_280, 6_991)),
        ] {
            let copied = Dimensions::new(width, height).unwrap().within(PictureWidth::parse(at_most).unwrap());
            assert_eq!((copied.width(), copied.height()), copy, "{width}x{height} within {at_most}");
        }
    }

    #[test]
    fn names_on_the_wire_are_read_back() {
        for media in MediaType::ALL {
            assert_eq!(MediaType::parse(media.mime()), Ok(*media));
        }
        assert!(MediaType::parse("image/svg+xml").is_err());
    }
}
