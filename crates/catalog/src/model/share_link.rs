use super::{PhotoUrl, PhotoUrlError};

/// Link by which customers share an item: an absolute `http` or `https` address, as for a photo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareLink(PhotoUrl);

impl ShareLink {
    /// Maximum length, in characters.
    pub const MAX: usize = PhotoUrl::MAX;

    /// Trims and checks the text.
    pub fn parse(text: &str) -> Result<Self, PhotoUrlError> {
        PhotoUrl::parse(text).map(Self)
    }

    /// Returns the address.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl From<ShareLink> for String {
    fn from(link: ShareLink) -> Self {
        link.0.into()
    }
}
