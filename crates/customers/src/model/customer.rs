use chrono::{DateTime, NaiveDate, Utc};
use kontor_kernel::{CounterpartyId, Email, FileKey, Name, Phone, UserId};

/// Customer (`counterparty` in the contract): a person or a company that buys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// Identifier.
    pub id: CounterpartyId,
    /// Person or company.
    pub kind: CustomerKind,
    /// Employee in charge.
    pub manager: Option<Manager>,
    /// Avatar.
    pub avatar: Option<FileKey>,
    /// Given name.
    pub first_name: Option<Name>,
    /// Family name.
    pub last_name: Option<Name>,
    /// Patronymic.
    pub middle_name: Option<Name>,
    /// Date of birth.
    pub birthday: Option<NaiveDate>,
    /// Address, as entered by the customer.
    pub address: Option<String>,
    /// First phone.
    pub phone_1: Option<Phone>,
    /// Second phone.
    pub phone_2: Option<Phone>,
    /// E-mail address.
    pub email: Option<Email>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// Entry of the dictionary of customer types (`type` in the contract); `1` is a person, `2` a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerKind {
    /// Number in the dictionary.
    pub id: i64,
    /// Name.
    pub name: Name,
    /// Creation time of the entry.
    pub created_at: DateTime<Utc>,
}

/// Employee in charge of a customer, as shown to the customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manager {
    /// Identifier.
    pub id: UserId,
    /// Given name.
    pub first_name: Name,
    /// Family name.
    pub last_name: Name,
    /// Patronymic.
    pub middle_name: Option<Name>,
}

impl Manager {
    /// Returns given name, patronymic and family name in one line.
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
