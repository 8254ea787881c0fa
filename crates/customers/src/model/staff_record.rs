use kontor_kernel::history::{Audited, AuditedField, FieldChange};
use kontor_kernel::{Inn, Kpp, Name, Resource};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::samples;
    use kontor_kernel::Phone;

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
        let told: Vec<_> = left.audited_fields().into_iter().filter(|(_, value)| value.is_some()).collect();
        assert_eq!(told, [("is_company", Some("false".to_owned()))]);
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
}
