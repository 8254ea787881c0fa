use chrono::{DateTime, NaiveDate, Utc};
use kontor_kernel::{CounterpartyId, Email, Line, Name, Phone, ProjectId, Violations};

use super::Customer;

/// The first day on which a customer may have been born.
const FIRST_BIRTHDAY: Option<NaiveDate> = NaiveDate::from_ymd_opt(1900, 1, 1);

/// What a customer writes about himself. `None` leaves a field as it is, `Some(None)` clears it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PersonalData {
    /// Given name.
    pub first_name: Option<Option<Name>>,
    /// Family name.
    pub last_name: Option<Option<Name>>,
    /// Patronymic.
    pub middle_name: Option<Option<Name>>,
    /// Day of birth.
    pub birthday: Option<Option<NaiveDate>>,
    /// Where he lives, in one line.
    pub address: Option<Option<Line<500>>>,
    /// His e-mail address.
    pub email: Option<Option<Email>>,
    /// His second phone.
    pub phone_2: Option<Option<Phone>>,
}

/// What a customer asks to change about his own record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfileEdit {
    /// What he may change.
    pub data: PersonalData,
    /// The phone that signs him in: it may only be repeated.
    pub phone_1: Option<Option<Phone>>,
}

/// A whole change of a customer's own record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileChange {
    /// Whose.
    pub customer: CounterpartyId,
    /// His project.
    pub project_id: ProjectId,
    /// What is written; the e-mail address only when it is another one.
    pub data: PersonalData,
    /// When.
    pub at: DateTime<Utc>,
}

impl ProfileEdit {
    /// The change of a record, or everything against it.
    pub fn decide(mut self, record: &Customer, at: DateTime<Utc>) -> Result<ProfileChange, Violations> {
        let mut wrong = Violations::default();
        if let Some(Some(birthday)) = self.data.birthday {
            if birthday > at.date_naive() {
                wrong.add("birthday", "must not be in the future");
            }
            if FIRST_BIRTHDAY.is_some_and(|first| birthday < first) {
                wrong.add("birthday", "must not be before 1900-01-01");
            }
        }
        if self.phone_1.is_some_and(|phone| phone != record.phone_1) {
            wrong.add("phone_1", "is changed by phone/request_change and phone/verify_change");
        }
        wrong.into_result()?;
        if self.data.email.as_ref() == Some(&record.email) {
            self.data.email = None;
        }
        Ok(ProfileChange { customer: record.id, project_id: record.project_id, data: self.data, at })
    }
}
