use chrono::{DateTime, NaiveDate, Utc};
use kontor_kernel::{CounterpartyId, Edit, Email, FileKey, Line, Name, Phone, ProjectId, UserId, Violations};

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

/// Earliest valid birthday.
const FIRST_BIRTHDAY: Option<NaiveDate> = NaiveDate::from_ymd_opt(1900, 1, 1);

/// Changes of a customer's personal data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PersonalData {
    /// Given name.
    pub first_name: Edit<Option<Name>>,
    /// Family name.
    pub last_name: Edit<Option<Name>>,
    /// Patronymic.
    pub middle_name: Edit<Option<Name>>,
    /// Date of birth.
    pub birthday: Edit<Option<NaiveDate>>,
    /// Address, one line.
    pub address: Edit<Option<Line<500>>>,
    /// E-mail address.
    pub email: Edit<Option<Email>>,
    /// Second phone.
    pub phone_2: Edit<Option<Phone>>,
}

/// Change of a customer's own record, as requested.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfileChange {
    /// Fields that the customer may change.
    pub data: PersonalData,
    /// Phone of the login: only the current value is accepted.
    pub phone_1: Edit<Option<Phone>>,
}

/// Checked change of a customer's own record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedChange {
    /// Customer.
    pub customer: CounterpartyId,
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Fields to write; the e-mail address only if it differs.
    pub data: PersonalData,
    /// Time of the change.
    pub at: DateTime<Utc>,
}

/// Adds violations for a date of birth.
pub(super) fn check_birthday(birthday: NaiveDate, at: DateTime<Utc>, wrong: &mut Violations) {
    if birthday > at.date_naive() {
        wrong.add("birthday", "must not be in the future");
    }
    if FIRST_BIRTHDAY.is_some_and(|first| birthday < first) {
        wrong.add("birthday", "must not be before 1900-01-01");
    }
}

impl ProfileChange {
    /// Checks the change against the record of the project. Returns all violations.
    pub fn decide(
        mut self,
        project_id: ProjectId,
        record: &Customer,
        at: DateTime<Utc>,
    ) -> Result<DecidedChange, Violations> {
        let mut wrong = Violations::default();
        if let Some(&birthday) = self.data.birthday.set_value() {
            check_birthday(birthday, at, &mut wrong);
        }
        if self.phone_1.as_set().is_some_and(|phone| *phone != record.phone_1) {
            wrong.add("phone_1", "must be changed with phone/request_change and phone/verify_change");
        }
        wrong.into_result()?;
        if self.data.email.as_set() == Some(&record.email) {
            self.data.email = Edit::Keep;
        }
        Ok(DecidedChange { customer: record.id, project_id, data: self.data, at })
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
