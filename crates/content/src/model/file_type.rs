use kontor_kernel::TextError;

use super::media::{Dimensions, Inspection, InvalidDimensions, MediaType};

/// Error: the number is not a type of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be one of 1, 2, 3")]
pub struct UnknownFileType;

/// Type of a file. The numbers are the contract's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileType {
    /// 1: employment contract of an employee.
    EmploymentContract,
    /// 2: public picture.
    Avatar,
    /// 3: file of an order.
    OrderFile,
}

/// Reason why a content is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentRefusal {
    /// The content is empty.
    #[error("must not be empty")]
    Empty,
    /// The type of file does not accept the content. Holds the accepted types.
    #[error("must be a {0} file")]
    TypeNotAccepted(String),
    /// The document contains macros.
    #[error("must not contain macros")]
    WithMacros,
    /// The content is damaged.
    #[error("is damaged: it starts as {} but is not a valid one", .0.title())]
    Damaged(MediaType),
    /// The dimensions of the picture are out of bounds.
    #[error(transparent)]
    Dimensions(#[from] InvalidDimensions),
    /// The file name cannot be used as a label.
    #[error("must have another name: its name {0}")]
    Name(#[from] TextError),
}

impl FileType {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::EmploymentContract, Self::Avatar, Self::OrderFile];

    /// Returns the number of the type.
    pub fn id(self) -> i64 {
        match self {
            Self::EmploymentContract => 1,
            Self::Avatar => 2,
            Self::OrderFile => 3,
        }
    }

    /// Returns the type with this number.
    pub fn from_id(id: i64) -> Result<Self, UnknownFileType> {
        Self::ALL.into_iter().find(|kind| kind.id() == id).ok_or(UnknownFileType)
    }

    /// Returns `true` if the key alone gives access to a file. Other types need an employee of the project.
    pub fn is_public(self) -> bool {
        self == Self::Avatar
    }

    /// Returns the accepted contents.
    pub fn accepted_types(self) -> &'static [MediaType] {
        use MediaType::{Docx, Gif, Jpeg, Ods, Odt, Pdf, Png, Webp, Xlsx};
        match self {
            Self::EmploymentContract => &[Pdf, Jpeg, Png, Webp, Docx, Odt],
            Self::Avatar => &[Jpeg, Png, Gif, Webp],
            Self::OrderFile => &[Pdf, Jpeg, Png, Gif, Webp, Docx, Xlsx, Odt, Ods],
        }
    }

    /// Returns the media type of an accepted content, with the dimensions of a picture; otherwise the reason why it is
    /// refused.
    pub fn admit(self, sighting: Inspection) -> Result<(MediaType, Option<Dimensions>), ContentRefusal> {
        let taken = |media: MediaType| {
            if self.accepted_types().contains(&media) {
                Ok(media)
            } else {
                Err(ContentRefusal::TypeNotAccepted(self.titles()))
            }
        };
        match sighting {
            Inspection::Empty => Err(ContentRefusal::Empty),
            Inspection::Unknown => Err(ContentRefusal::TypeNotAccepted(self.titles())),
            Inspection::WithMacros => Err(ContentRefusal::WithMacros),
            Inspection::Damaged(media) => Err(ContentRefusal::Damaged(taken(media)?)),
            Inspection::Document(media) => Ok((taken(media)?, None)),
            Inspection::Image { media, width, height } => Ok((taken(media)?, Some(Dimensions::new(width, height)?))),
        }
    }

    /// `PDF, JPEG or PNG`
    fn titles(self) -> String {
        let titles: Vec<&str> = self.accepted_types().iter().map(|media| media.title()).collect();
        match titles.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

impl From<FileType> for i64 {
    fn from(kind: FileType) -> Self {
        kind.id()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_contracts() {
        assert_eq!(FileType::ALL.map(FileType::id), [1, 2, 3]);
        assert_eq!(FileType::from_id(2), Ok(FileType::Avatar));
        assert_eq!((FileType::from_id(0), FileType::from_id(4)), (Err(UnknownFileType), Err(UnknownFileType)));
    }

    #[test]
    fn each_type_takes_its_contents() {
        use ContentRefusal as Refused;
        let image = |media| Inspection::Image { media, width: 10, height: 20 };
        let dimensions = Dimensions::new(10, 20).unwrap();
        assert_eq!(FileType::Avatar.admit(image(MediaType::Gif)), Ok((MediaType::Gif, Some(dimensions))));
        assert!(matches!(FileType::EmploymentContract.admit(image(MediaType::Gif)), Err(Refused::TypeNotAccepted(_))));
        assert!(matches!(
            FileType::Avatar.admit(Inspection::Document(MediaType::Pdf)),
            Err(Refused::TypeNotAccepted(_))
        ));
        // Damage is reported only for contents that the type accepts.
        assert!(matches!(
            FileType::Avatar.admit(Inspection::Damaged(MediaType::Docx)),
            Err(Refused::TypeNotAccepted(_))
        ));
        assert_eq!(FileType::Avatar.admit(Inspection::Damaged(MediaType::Png)), Err(Refused::Damaged(MediaType::Png)));
        assert_eq!(FileType::OrderFile.admit(Inspection::WithMacros), Err(Refused::WithMacros));
        assert_eq!(FileType::OrderFile.admit(Inspection::Empty), Err(Refused::Empty));
        let bomb = Inspection::Image { media: MediaType::Png, width: 60_000, height: 60_000 };
        assert_eq!(FileType::Avatar.admit(bomb), Err(Refused::Dimensions(InvalidDimensions)));
        for kind in FileType::ALL {
            for media in kind.accepted_types() {
                assert!(media.is_image() || !kind.is_public(), "only pictures are shown to everybody");
            }
        }
    }
}
