use super::{PhotoUrl, PhotoUrlError};

/// The link by which customers pass an item on: an absolute `http` or `https` address, as that of a photo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareLink(PhotoUrl);

impl ShareLink {
    /// The longest link, in characters.
    pub const MAX: usize = PhotoUrl::MAX;

    /// Trims and checks.
    pub fn parse(text: &str) -> Result<Self, PhotoUrlError> {
        PhotoUrl::parse(text).map(Self)
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl From<ShareLink> for String {
    fn from(link: ShareLink) -> Self {
        link.0.into()
    }
}
