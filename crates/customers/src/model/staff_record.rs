use chrono::{DateTime, NaiveDate, Utc};
use kontor_kernel::history::{Audited, AuditedField, FieldChange};
use kontor_kernel::{Edit, Email, Inn, Kpp, Line, Name, Phone, Resource, UserId, Violations};

use super::customer::check_birthday;
use super::{Customer, Manager};

/// Customer record for staff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffCustomer {
    /// Fields that the customer sees too.
    pub record: Customer,
    /// `true` for a company.
    pub is_company: bool,
    /// Company name.
    pub name: Option<Name>,
    /// Taxpayer number (INN).
    pub inn: Option<Inn>,
    /// Tax registration reason code (KPP) of a company.
    pub kpp: Option<Kpp>,
    /// Number of orders.
    pub orders: u64,
    /// Version; grows with every change.
    pub version: u64,
}

/// Fields without personal data.
const NON_PERSONAL_FIELDS: [&str; 2] = ["is_company", "manager"];
/// Fields of a company, without personal data of a person.
const COMPANY_FIELDS: [&str; 3] = ["name", "inn", "kpp"];

/// Display name of a customer, also the sort key of lists. It is the company name; or family, given and middle
/// name of a person; or the first of their contacts.
pub fn title(company: Option<&str>, names: [Option<&str>; 3], contacts: [Option<&str>; 2]) -> String {
    let names: Vec<&str> = names.into_iter().flatten().collect();
    let contact = contacts.into_iter().flatten().next();
    company.map_or_else(
        || if names.is_empty() { contact.unwrap_or_default().to_owned() } else { names.join(" ") },
        str::to_owned,
    )
}

impl StaffCustomer {
    /// Returns the display name. Empty if no part of it is known.
    pub fn title(&self) -> String {
        let record = &self.record;
        let names = [record.last_name.as_deref(), record.first_name.as_deref(), record.middle_name.as_deref()];
        title(self.name.as_deref(), names, [record.phone_1.as_deref(), record.email.as_deref()])
    }

    /// Returns the record without personal data, after the customer was deleted. A company keeps its name and
    /// numbers.
    #[must_use]
    pub fn anonymous(self) -> Self {
        let record = Customer {
            avatar: None,
            first_name: None,
            last_name: None,
            middle_name: None,
            birthday: None,
            address: None,
            phone_1: None,
            phone_2: None,
            email: None,
            ..self.record
        };
        let kept = self.is_company;
        Self {
            record,
            name: self.name.filter(|_| kept),
            inn: self.inn.filter(|_| kept),
            kpp: self.kpp.filter(|_| kept),
            ..self
        }
    }
}

/// Anonymizes a history entry of a deleted customer: the names of changed fields stay, their values are removed.
pub fn without_personal_values(changes: Vec<FieldChange>, is_company: bool) -> Vec<FieldChange> {
    let stays = |field: &str| NON_PERSONAL_FIELDS.contains(&field) || is_company && COMPANY_FIELDS.contains(&field);
    let cleared = |change: FieldChange| {
        if stays(&change.field) { change } else { FieldChange { old: None, new: None, ..change } }
    };
    changes.into_iter().map(cleared).collect()
}

impl Audited for StaffCustomer {
    const RESOURCE: Resource = Resource::Counterparties;

    fn number(&self) -> i64 {
        self.record.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        fn text<T: ToString>(value: Option<&T>) -> Option<String> {
            value.map(ToString::to_string)
        }
        let record = &self.record;
        vec![
            ("is_company", Some(self.is_company.to_string())),
            ("name", text(self.name.as_ref())),
            ("inn", text(self.inn.as_ref())),
            ("kpp", text(self.kpp.as_ref())),
            ("first_name", text(record.first_name.as_ref())),
            ("last_name", text(record.last_name.as_ref())),
            ("middle_name", text(record.middle_name.as_ref())),
            ("birthday", text(record.birthday.as_ref())),
            ("address", record.address.clone()),
            ("phone_1", text(record.phone_1.as_ref())),
            ("phone_2", text(record.phone_2.as_ref())),
            ("email", text(record.email.as_ref())),
            ("manager", record.manager.as_ref().map(Manager::name)),
        ]
    }
}

/// Fields of a customer that staff write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CustomerDraft {
    /// `true` for a company.
    pub is_company: bool,
    /// Company name.
    pub name: Option<Name>,
    /// Taxpayer number (INN).
    pub inn: Option<Inn>,
    /// Tax registration reason code (KPP) of a company.
    pub kpp: Option<Kpp>,
    /// Given name.
    pub first_name: Option<Name>,
    /// Family name.
    pub last_name: Option<Name>,
    /// Patronymic.
    pub middle_name: Option<Name>,
    /// Date of birth.
    pub birthday: Option<NaiveDate>,
    /// Address.
    pub address: Option<Line<500>>,
    /// Phone for the login.
    pub phone_1: Option<Phone>,
    /// Second phone.
    pub phone_2: Option<Phone>,
    /// E-mail address for the login.
    pub email: Option<Email>,
    /// Employee in charge.
    pub manager_id: Option<UserId>,
}

/// Changes of a customer by staff.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CustomerChange {
    /// `true` for a company from now on.
    pub is_company: bool,
    /// Company name.
    pub name: Edit<Option<Name>>,
    /// Taxpayer number (INN).
    pub inn: Edit<Option<Inn>>,
    /// Tax registration reason code (KPP) of a company.
    pub kpp: Edit<Option<Kpp>>,
    /// Given name.
    pub first_name: Edit<Option<Name>>,
    /// Family name.
    pub last_name: Edit<Option<Name>>,
    /// Patronymic.
    pub middle_name: Edit<Option<Name>>,
    /// Date of birth.
    pub birthday: Edit<Option<NaiveDate>>,
    /// Address.
    pub address: Edit<Option<Line<500>>>,
    /// Phone for the login. The old one can no longer log in.
    pub phone_1: Edit<Option<Phone>>,
    /// Second phone.
    pub phone_2: Edit<Option<Phone>>,
    /// E-mail address for the login. The old one can no longer log in.
    pub email: Edit<Option<Email>>,
    /// Employee in charge.
    pub manager_id: Edit<Option<UserId>>,
}

impl CustomerDraft {
    /// Checks a new customer. Returns all violations.
    pub fn check_new(&self, at: DateTime<Utc>) -> Result<(), Violations> {
        let mut wrong = self.wrong(at);
        if !self.is_company && self.first_name.is_none() {
            wrong.add("first_name", "is required for a person");
        }
        wrong.into_result()
    }

    fn wrong(&self, at: DateTime<Utc>) -> Violations {
        let mut wrong = Violations::default();
        if let Some(birthday) = self.birthday {
            check_birthday(birthday, at, &mut wrong);
        }
        let is_personal = self.inn.as_ref().map(Inn::is_personal);
        if self.is_company {
            if self.name.is_none() {
                wrong.add("name", "is required for a company");
            }
            if self.kpp.is_some() && is_personal == Some(true) {
                wrong.add("kpp", "is allowed only with an INN of 10 digits");
            }
        } else {
            if self.name.is_some() {
                wrong.add("name", "is allowed for a company only");
            }
            if self.kpp.is_some() {
                wrong.add("kpp", "is allowed for a company only");
            }
            if is_personal == Some(false) {
                wrong.add("inn", "must have 12 digits; an INN of 10 digits belongs to a company");
            }
        }
        wrong
    }
}

impl CustomerChange {
    /// Returns the record after the change, or all violations. When a company becomes a person, the company
    /// fields are cleared.
    pub fn decide(self, before: &StaffCustomer, at: DateTime<Utc>) -> Result<CustomerDraft, Violations> {
        let record = &before.record;
        let becomes_person = before.is_company && !self.is_company;
        let kept_inn = before.inn.clone().filter(|inn| inn.is_personal() || !becomes_person);
        let address = record.address.as_deref().and_then(|address| Line::parse(address).ok());
        let decided = CustomerDraft {
            is_company: self.is_company,
            name: self.name.or(before.name.clone().filter(|_| !becomes_person)),
            inn: self.inn.or(kept_inn),
            kpp: self.kpp.or(before.kpp.clone().filter(|_| !becomes_person)),
            first_name: self.first_name.or(record.first_name.clone()),
            last_name: self.last_name.or(record.last_name.clone()),
            middle_name: self.middle_name.or(record.middle_name.clone()),
            birthday: self.birthday.or(record.birthday),
            address: self.address.or(address),
            phone_1: self.phone_1.or(record.phone_1.clone()),
            phone_2: self.phone_2.or(record.phone_2.clone()),
            email: self.email.or(record.email.clone()),
            manager_id: self.manager_id.or(record.manager.as_ref().map(|manager| manager.id)),
        };
        decided.wrong(at).into_result().map(|()| decided)
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Phone;

    use super::*;
    use crate::model::samples;

    #[test]
    fn a_customer_is_called_by_the_best_that_is_known() {
        let mut anna = samples::person();
        assert_eq!(anna.title(), "Kern Anna");
        anna.record.first_name = None;
        anna.record.last_name = None;
        anna.record.phone_1 = Phone::parse("79001234567").ok();
        assert_eq!(anna.title(), "79001234567");
        assert_eq!(samples::company().title(), "Nord");
    }

    #[test]
    fn deleted_customers_have_no_personal_data() {
        let left = samples::person().anonymous();
        let reported: Vec<_> = left.audited_fields().into_iter().filter(|(_, value)| value.is_some()).collect();
        assert_eq!(reported, [("is_company", Some("false".to_owned()))]);
        let company = samples::company();
        assert_eq!(company.clone().anonymous().name, company.name);
        assert!(company.anonymous().record.phone_1.is_none());
    }

    #[test]
    fn a_history_keeps_fields_and_loses_values() {
        let change =
            |field: &str| FieldChange { field: field.to_owned(), old: Some("a".into()), new: Some("b".into()) };
        let fields = ["is_company", "name", "first_name", "phone_1", "contacts.7.value", "manager"];
        let values = |is_company| -> Vec<bool> {
            let cleared = without_personal_values(fields.map(change).into(), is_company);
            cleared.iter().map(|change| change.old.is_some() && change.new.is_some()).collect()
        };
        assert_eq!(values(false), [true, false, false, false, false, true]);
        assert_eq!(values(true), [true, true, false, false, false, true]);
    }

    fn named(result: Result<impl Sized, Violations>) -> Vec<String> {
        result.err().unwrap_or_default().fields().keys().cloned().collect()
    }

    fn name(text: &str) -> Option<Name> {
        Name::parse(text).ok()
    }

    fn inn(text: &str) -> Option<Inn> {
        Inn::parse(text).ok()
    }

    #[test]
    fn a_company_and_a_person_have_their_own_fields() {
        let kpp = Kpp::parse("770701001").ok();
        let new = |draft: CustomerDraft| named(draft.check_new(DateTime::UNIX_EPOCH));
        let company = CustomerDraft { is_company: true, ..CustomerDraft::default() };
        assert_eq!(new(company.clone()), ["name"]);
        let company = CustomerDraft { name: name("Nord"), kpp: kpp.clone(), ..company };
        assert!(new(CustomerDraft { inn: inn("7707083893"), ..company.clone() }).is_empty());
        assert_eq!(new(CustomerDraft { inn: inn("500100732259"), ..company }), ["kpp"]);
        let person = CustomerDraft { first_name: name("Anna"), inn: inn("500100732259"), ..CustomerDraft::default() };
        assert!(new(person).is_empty());
        let birthday = "1970-01-02".parse().ok();
        let wrong =
            CustomerDraft { name: name("Nord"), kpp, inn: inn("7707083893"), birthday, ..CustomerDraft::default() };
        assert_eq!(new(wrong), ["birthday", "first_name", "inn", "kpp", "name"]);
    }

    #[test]
    fn a_company_that_is_a_person_loses_what_companies_have() {
        let person = CustomerChange { first_name: Edit::Set(name("Anna")), ..CustomerChange::default() };
        let decided = person.decide(&samples::company(), DateTime::UNIX_EPOCH).unwrap();
        assert_eq!((decided.name, decided.inn, decided.kpp), (None, None, None));
        assert_eq!(decided.phone_1, samples::company().record.phone_1);
        let company = CustomerChange { is_company: true, ..CustomerChange::default() };
        assert_eq!(named(company.decide(&samples::person(), DateTime::UNIX_EPOCH)), ["name"]);
        let emptied = CustomerChange { is_company: true, name: Edit::Set(None), ..CustomerChange::default() };
        assert_eq!(named(emptied.decide(&samples::company(), DateTime::UNIX_EPOCH)), ["name"]);
    }

    #[test]
    fn nothing_said_changes_nothing() {
        let anna = samples::person();
        let same = CustomerChange::default().decide(&anna, DateTime::UNIX_EPOCH).unwrap();
        assert_eq!((same.first_name, same.phone_1), (anna.record.first_name, anna.record.phone_1));
    }
}
