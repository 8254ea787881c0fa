pub use kontor_kernel::{PhotoUrl, PhotoUrlError};

/// Error: an item has too many photos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have at most {} photos", Gallery::MAX)]
pub struct GalleryError;

/// Photos of an item in display order, at most 20.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gallery(Vec<PhotoUrl>);

impl Gallery {
    /// Maximum photos of an item.
    pub const MAX: usize = 20;

    /// Checks the count.
    pub fn new(photos: Vec<PhotoUrl>) -> Result<Self, GalleryError> {
        if photos.len() > Self::MAX { Err(GalleryError) } else { Ok(Self(photos)) }
    }

    /// Returns the photos in display order.
    pub fn photos(&self) -> &[PhotoUrl] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_has_at_most_twenty_photos() {
        let photo = PhotoUrl::parse("https://cdn.example/a.jpg").unwrap();
        assert!(Gallery::new(vec![photo.clone(); 20]).is_ok());
        assert_eq!(Gallery::new(vec![photo; 21]), Err(GalleryError));
    }
}
