use kontor_kernel::{Name, TextError};

macro_rules! media {
    ($($(#[$doc:meta])* $variant:ident = $mime:literal, $title:literal, $endings:expr;)+) => {
        /// Known media types. Other contents are refused, regardless of their declared type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum MediaType { $($(#[$doc])* $variant,)+ }

        impl MediaType {
            /// Every media type.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the media type as on the wire.
            pub fn mime(self) -> &'static str {
                match self { $(Self::$variant => $mime,)+ }
            }

            /// Returns the name for people.
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            /// Returns the file extensions, the usual one first.
            pub fn endings(self) -> &'static [&'static str] {
                match self { $(Self::$variant => $endings,)+ }
            }
        }
    };
}

media! {
    /// JPEG picture.
    Jpeg = "image/jpeg", "JPEG", &["jpg", "jpeg", "jpe", "jfif"];
    /// PNG picture.
    Png = "image/png", "PNG", &["png"];
    /// GIF picture, possibly animated.
    Gif = "image/gif", "GIF", &["gif"];
    /// WebP picture.
    Webp = "image/webp", "WebP", &["webp"];
    /// PDF document.
    Pdf = "application/pdf", "PDF", &["pdf"];
    /// Text document of Office Open XML.
    Docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "DOCX", &["docx"];
    /// Workbook of Office Open XML.
    Xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "XLSX", &["xlsx"];
    /// Text document of `OpenDocument`.
    Odt = "application/vnd.oasis.opendocument.text", "ODT", &["odt"];
    /// Workbook of `OpenDocument`.
    Ods = "application/vnd.oasis.opendocument.spreadsheet", "ODS", &["ods"];
}

/// Error: the text is not a known media type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no media type `{0}`")]
pub struct UnknownMediaType(String);

/// Maximum length of a stored file name, in characters.
const MAX_LABEL_LENGTH: usize = 255;

/// Characters that change the direction of text. With one of them, a name can show another extension than it has.
fn changes_direction(sign: char) -> bool {
    matches!(sign, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

impl MediaType {
    /// Parses the name on the wire.
    pub fn parse(mime: &str) -> Result<Self, UnknownMediaType> {
        let found = Self::ALL.iter().find(|media| media.mime() == mime);
        found.copied().ok_or_else(|| UnknownMediaType(mime.to_owned()))
    }

    /// Returns `true` if browsers show it as a picture.
    pub fn is_image(self) -> bool {
        matches!(self, Self::Jpeg | Self::Png | Self::Gif | Self::Webp)
    }

    /// Returns the name for display and download. It is the sender's name without folders, control characters and signs
    /// that hide the extension, with the extension of the actual media type.
    pub fn label(self, original: Option<&str>) -> Result<Name, TextError> {
        let last = original.unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
        let clean: String = last.chars().filter(|sign| !sign.is_control() && !changes_direction(*sign)).collect();
        let clean = clean.trim_matches(|sign: char| sign == '.' || sign.is_whitespace());
        let ending = self.endings().first().copied().unwrap_or("bin");
        let (stem, own) = match clean.rsplit_once('.') {
            Some((stem, own)) if !stem.is_empty() && self.endings().contains(&own.to_lowercase().as_str()) => {
                (stem, own)
            }
            _ => (clean, ending),
        };
        let stem = if stem.is_empty() { "file" } else { stem };
        let room = MAX_LABEL_LENGTH.saturating_sub(own.chars().count() + 1);
        let short: String = stem.chars().take(room).collect();
        Name::parse(&format!("{}.{own}", short.trim_end()))
    }
}

/// Error: the dimensions of a picture are out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a picture of at most {} pixels a side and {} pixels in all",
    Dimensions::MAX_SIDE,
    Dimensions::MAX_PIXELS
)]
pub struct InvalidDimensions;

/// Dimensions of a picture, in pixels. The bounds limit the memory that a small file needs when it is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    width: u32,
    height: u32,
}

impl Dimensions {
    /// Maximum side, in pixels.
    pub const MAX_SIDE: u32 = 16_384;
    /// Maximum number of pixels.
    pub const MAX_PIXELS: u64 = 50_000_000;
    /// Maximum side of a WebP picture, in pixels.
    const MAX_WEBP_SIDE: u32 = 16_383;

    /// Checks the bounds; a picture has at least one pixel.
    pub fn new(width: u64, height: u64) -> Result<Self, InvalidDimensions> {
        let side = |side: u64| u32::try_from(side).ok().filter(|side| (1..=Self::MAX_SIDE).contains(side));
        let (Some(width), Some(height)) = (side(width), side(height)) else { return Err(InvalidDimensions) };
        if u64::from(width) * u64::from(height) > Self::MAX_PIXELS {
            Err(InvalidDimensions)
        } else {
            Ok(Self { width, height })
        }
    }

    /// Returns the dimensions of a smaller copy: at most this wide and at most as high as WebP allows, with the same
    /// proportions, never enlarged.
    #[must_use]
    pub fn within(self, width: PictureWidth) -> Self {
        let scaled = |length: u32, to: u32, from: u32| {
            let (length, to, from) = (u64::from(length), u64::from(to), u64::from(from.max(1)));
            u32::try_from((length * to + from / 2) / from).unwrap_or(u32::MAX).max(1)
        };
        let narrow = width.pixels().min(self.width);
        let height = scaled(self.height, narrow, self.width);
        if height <= Self::MAX_WEBP_SIDE {
            Self { width: narrow, height }
        } else {
            Self { width: scaled(self.width, Self::MAX_WEBP_SIDE, self.height), height: Self::MAX_WEBP_SIDE }
        }
    }

    /// Returns the width.
    pub fn width(self) -> u32 {
        self.width
    }

    /// Returns the height.
    pub fn height(self) -> u32 {
        self.height
    }
}

/// Result of inspecting a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inspection {
    /// Picture with the dimensions of its header, in pixels.
    Image {
        /// Media type.
        media: MediaType,
        /// Width.
        width: u64,
        /// Height.
        height: u64,
    },
    /// Known content that is not a picture.
    Document(MediaType),
    /// The content begins like a known media type but is damaged.
    Damaged(MediaType),
    /// Document that runs programs when it is opened.
    WithMacros,
    /// Unknown content.
    Unknown,
    /// Empty content.
    Empty,
}

/// Error: the text is not an allowed width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be one of 160, 320, 640, 1280")]
pub struct UnknownPictureWidth;

/// Maximum width of a smaller copy of a picture, in pixels. Only a few widths exist, so that few copies are created and
/// stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureWidth(u32);

impl PictureWidth {
    /// Every width. Stores remove the copies of these widths with the file, so a width must never be removed from the
    /// list.
    pub const ALL: [Self; 4] = [Self(160), Self(320), Self(640), Self(1280)];

    /// Parses the decimal number of a width.
    pub fn parse(text: &str) -> Result<Self, UnknownPictureWidth> {
        Self::ALL.into_iter().find(|width| width.0.to_string() == text).ok_or(UnknownPictureWidth)
    }

    /// Returns the width in pixels.
    pub fn pixels(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_is_safe_and_fits_the_content() {
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
            assert_eq!(Dimensions::new(width, height), Err(InvalidDimensions), "{width}x{height}");
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

    #[test]
    fn only_listed_widths_are_read() {
        for width in PictureWidth::ALL {
            assert_eq!(PictureWidth::parse(&width.pixels().to_string()), Ok(width));
            assert!(UnknownPictureWidth.to_string().contains(&width.pixels().to_string()));
        }
        for other in ["", "0", "0320", "+320", " 320", "320 ", "320.0", "321", "-160", "10000", "99999999999999999999"]
        {
            assert_eq!(PictureWidth::parse(other), Err(UnknownPictureWidth), "{other}");
        }
    }
}
