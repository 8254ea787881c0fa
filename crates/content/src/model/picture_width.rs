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
