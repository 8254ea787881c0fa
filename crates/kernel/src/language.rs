//! The language of a project.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// The language in which a project speaks to its customers, by its code in ISO 639-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Language {
    /// Russian; of projects that have chosen none.
    #[default]
    Ru,
    /// English.
    En,
}
