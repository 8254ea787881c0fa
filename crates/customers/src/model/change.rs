use chrono::{DateTime, NaiveDate, Utc};
use kontor_kernel::{CounterpartyId, Edit, Email, Line, Name, Phone, ProjectId, Violations};

use super::Customer;

/// The first day on which a customer may have been born.
const FIRST_BIRTHDAY: Option<NaiveDate> = NaiveDate::from_ymd_opt(1900, 1, 1);

/// What a customer changes of what they write about themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PersonalData {
    /// Given name.
    pub first_name: Edit<Option<Name>>,
    /// Family name.
    pub last_name: Edit<Option<Name>>,
    /// Patronymic.
    pub middle_name: Edit<Option<Name>>,
    /// Day of birth.
    pub birthday: Edit<Option<NaiveDate>>,
    /// Where he lives, in one line.
    pub address: Edit<Option<Line<500>>>,
    /// His e-mail address.
    pub email: Edit<Option<Email>>,
    /// His second phone.
    pub phone_2: Edit<Option<Phone>>,
}

/// What a customer asks to change about his own record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfileChange {
    /// What he may change.
    pub data: PersonalData,
    /// The phone that signs him in: it may only be repeated.
    pub phone_1: Edit<Option<Phone>>,
}

/// A whole change of a customer's own record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedChange {
    /// Whose.
    pub customer: CounterpartyId,
    /// His project.
    pub project_id: ProjectId,
    /// What is written; the e-mail address only when it is another one.
    pub data: PersonalData,
    /// When.
    pub at: DateTime<Utc>,
}

/// Notes what is wrong with a day of birth.
pub(super) fn check_birthday(birthday: NaiveDate, at: DateTime<Utc>, wrong: &mut Violations) {
    if birthday > at.date_naive() {
        wrong.add("birthday", "must not be in the future");
    }
    if FIRST_BIRTHDAY.is_some_and(|first| birthday < first) {
        wrong.add("birthday", "must not be before 1900-01-01");
    }
}

impl ProfileChange {
    /// The change of a record of the project, or everything against it.
    pub fn decide(
        mut self,
        project_id: ProjectId,
        record: &Customer,
        at: DateTime<Utc>,
    ) -> Result<DecidedChange, Violations> {
        let mut wrong = Violations::default();
        if let Some(&birthday) = self.data.birthday.as_filled() {
            check_birthday(birthday, at, &mut wrong);
        }
        if self.phone_1.as_set().is_some_and(|phone| *phone != record.phone_1) {
            wrong.add("phone_1", "is changed by phone/request_change and phone/verify_change");
        }
        wrong.into_result()?;
        if self.data.email.as_set() == Some(&record.email) {
            self.data.email = Edit::Keep;
        }
        Ok(DecidedChange { customer: record.id, project_id, data: self.data, at })
    }
}
