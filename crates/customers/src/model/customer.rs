use chrono::{DateTime, NaiveDate, Utc};
use kontor_kernel::{CounterpartyId, Email, FileKey, Name, Phone, UserId};

/// A customer (`counterparty` in the contract): a person or a company that buys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// His number.
    pub id: CounterpartyId,
    /// Person or company.
    pub kind: CustomerKind,
    /// The employee who looks after him.
    pub manager: Option<Manager>,
    /// His picture.
    pub avatar: Option<FileKey>,
    /// Given name.
    pub first_name: Option<Name>,
    /// Family name.
    pub last_name: Option<Name>,
    /// Patronymic.
    pub middle_name: Option<Name>,
    /// Day of birth.
    pub birthday: Option<NaiveDate>,
    /// Where he lives, as he wrote it.
    pub address: Option<String>,
    /// His first phone.
    pub phone_1: Option<Phone>,
    /// His second phone.
    pub phone_2: Option<Phone>,
    /// His e-mail address.
    pub email: Option<Email>,
    /// When the record was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// An entry of the dictionary of customer types (`type` in the contract); `1` is a person, `2` a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerKind {
    /// Its number in the dictionary.
    pub id: i64,
    /// Its name.
    pub name: Name,
    /// When the entry was made.
    pub created_at: DateTime<Utc>,
}

/// The employee who looks after a customer, as the customer sees him.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manager {
    /// His number.
    pub id: UserId,
    /// Given name.
    pub first_name: Name,
    /// Family name.
    pub last_name: Name,
    /// Patronymic.
    pub middle_name: Option<Name>,
}

impl Manager {
    /// Given name, patronymic and family name in one line.
    pub fn name(&self) -> String {
        match &self.middle_name {
            Some(middle) => format!("{} {middle} {}", self.first_name, self.last_name),
            None => format!("{} {}", self.first_name, self.last_name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_has_one_name() {
        let name = |text| Name::parse(text).unwrap();
        let id = UserId::new(1).unwrap();
        let manager = Manager { id, first_name: name("Anna"), last_name: name("Kern"), middle_name: None };
        assert_eq!(manager.name(), "Anna Kern");
        assert_eq!(Manager { middle_name: Some(name("Petrovna")), ..manager }.name(), "Anna Petrovna Kern");
    }
}
