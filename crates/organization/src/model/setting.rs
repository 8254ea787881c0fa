use chrono::{DateTime, Utc};
use kontor_kernel::{DictionaryItemId, InvalidId, Language, Word as _, Zone};

/// Data of a project that staff cannot change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectInfo {
    /// Name of the project.
    pub name: String,
    /// Currency of every amount, ISO 4217.
    pub currency: String,
    /// Time zone, which defines its days.
    pub time_zone: Zone,
    /// Language of messages to customers.
    pub language: Language,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// Setting of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Identifier, the same in every project.
    pub id: DictionaryItemId,
    /// Name.
    pub name: &'static str,
    /// Value.
    pub value: String,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

impl Setting {
    /// Returns every setting of a project: `1` project name, `2` currency, `3` time zone, `4` language.
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
