use chrono::{DateTime, Utc};
use kontor_kernel::{DictionaryItemId, InvalidId, Language, Word as _, Zone};

/// What staff cannot change about a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectInfo {
    /// The name of the project.
    pub name: String,
    /// The currency of every amount, ISO 4217.
    pub currency: String,
    /// Where its days begin.
    pub time_zone: Zone,
    /// In which it speaks to its customers.
    pub language: Language,
    /// When it was founded.
    pub created_at: DateTime<Utc>,
}

/// A setting of a project, told by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its number, the same in every project.
    pub id: DictionaryItemId,
    /// What it sets.
    pub name: &'static str,
    /// To what.
    pub value: String,
    /// Since when.
    pub created_at: DateTime<Utc>,
}

impl Setting {
    /// Every setting of a project: `1` project name, `2` currency, `3` time zone, `4` language.
    pub fn of(info: ProjectInfo) -> Result<Vec<Self>, InvalidId> {
        let ProjectInfo { name, currency, time_zone, language, created_at } = info;
        let values = [
            ("project_name", name),
            ("currency", currency),
            ("time_zone", time_zone.name().to_owned()),
            ("language", language.word().to_owned()),
        ];
        (1..)
            .zip(values)
            .map(|(id, (name, value))| Ok(Self { id: DictionaryItemId::new(id)?, name, value, created_at }))
            .collect()
    }
}
