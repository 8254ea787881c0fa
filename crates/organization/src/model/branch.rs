use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{BranchId, Email, Inn, Kpp, Line, Name, Phone, Record, Resource, Violations, draft_and_change};

use crate::BranchRefusal;

/// Business, legal entity or operating unit of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Identifier of the branch.
    pub id: BranchId,
    /// Name of the business.
    pub name: Name,
    /// Taxpayer number (INN). Old values were stored unchecked.
    pub inn: Option<Line<12>>,
    /// Tax registration reason code (KPP). Old values were stored unchecked.
    pub kpp: Option<Line<9>>,
    /// Postal address.
    pub address: Option<Line<500>>,
    /// Phone.
    pub phone: Option<Phone>,
    /// E-mail address.
    pub email: Option<Email>,
    /// Version, from 1; grows with every change.
    pub version: u64,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Audited for Branch {
    const RESOURCE: Resource = Resource::Branches;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        vec![
            ("name", Some(self.name.to_string())),
            ("inn", self.inn.as_ref().map(ToString::to_string)),
            ("kpp", self.kpp.as_ref().map(ToString::to_string)),
            ("address", self.address.as_ref().map(ToString::to_string)),
            ("phone", self.phone.as_ref().map(ToString::to_string)),
            ("email", self.email.as_ref().map(ToString::to_string)),
        ]
    }
}

impl Record for Branch {
    type Id = BranchId;
    type Draft = BranchDraft;
    type Change = BranchChange;
    type Refusal = BranchRefusal;

    fn admit(draft: &BranchDraft, _now: DateTime<Utc>) -> Result<(), BranchRefusal> {
        draft.check().map_err(BranchRefusal::Invalid)
    }
}

draft_and_change! {
    /// Fields of a new branch.
    BranchDraft,
    /// Changes of a branch.
    BranchChange {
        /// Name of the business.
        name: Name,
        /// Taxpayer number (INN).
        inn: Option<Inn>,
        /// Tax registration reason code (KPP).
        kpp: Option<Kpp>,
        /// Postal address.
        address: Option<Line<500>>,
        /// Phone.
        phone: Option<Phone>,
        /// E-mail address.
        email: Option<Email>,
    }
}

/// Refuses a KPP beside the INN of an entrepreneur, which has 12 digits: entrepreneurs have no KPP.
fn check_kpp(inn: Option<&str>, has_kpp: bool) -> Result<(), Violations> {
    let personal = inn.is_some_and(|inn| inn.len() == 12);
    if personal && has_kpp {
        Err(Violations::single("kpp", "is allowed only with an INN of 10 digits"))
    } else {
        Ok(())
    }
}

impl BranchDraft {
    /// Refuses contradicting numbers.
    pub fn check(&self) -> Result<(), Violations> {
        check_kpp(self.inn.as_deref(), self.kpp.is_some())
    }
}

impl BranchChange {
    /// Refuses contradicting numbers. Stored values are accepted while neither is changed.
    pub fn check(&self, before: &Branch) -> Result<(), Violations> {
        if self.inn.as_set().is_none() && self.kpp.as_set().is_none() {
            return Ok(());
        }
        let inn = self.inn.as_set().map_or(before.inn.as_deref(), |inn| inn.as_deref());
        let has_kpp = self.kpp.as_set().map_or(before.kpp.is_some(), Option::is_some);
        check_kpp(inn, has_kpp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::Edit;

    fn branch(inn: Option<&str>, kpp: Option<&str>) -> Branch {
        Branch {
            id: BranchId::new(1).unwrap(),
            name: Name::parse("Nord").unwrap(),
            inn: inn.map(|inn| Line::parse(inn).unwrap()),
            kpp: kpp.map(|kpp| Line::parse(kpp).unwrap()),
            address: None,
            phone: None,
            email: None,
            version: 1,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn an_entrepreneur_has_no_kpp() {
        let (company, person) = (Inn::parse("7707083893").unwrap(), Inn::parse("500100732259").unwrap());
        let kpp = Kpp::parse("770701001").unwrap();
        let kpp = || Edit::Set(Some(kpp.clone()));
        let change = |inn, kpp| BranchChange { inn, kpp, ..BranchChange::default() };
        let (companys, persons) = (Edit::Set(Some(company)), Edit::Set(Some(person)));
        let nobody = branch(None, None);
        assert!(change(companys.clone(), kpp()).check(&nobody).is_ok());
        assert!(change(persons.clone(), kpp()).check(&nobody).is_err());
        assert!(change(persons.clone(), Edit::Keep).check(&branch(Some("7707083893"), Some("770701001"))).is_err());
        assert!(change(persons, Edit::Set(None)).check(&branch(Some("7707083893"), Some("770701001"))).is_ok());
        assert!(change(Edit::Keep, kpp()).check(&branch(Some("500100732259"), None)).is_err());
        assert!(change(Edit::Set(None), kpp()).check(&branch(Some("500100732259"), None)).is_ok());
    }

    #[test]
    fn unchecked_stored_values_do_not_block_updates() {
        let old = branch(Some("500100732259"), Some("x"));
        let renamed = BranchChange { name: Edit::Set(Name::parse("Sud").unwrap()), ..BranchChange::default() };
        assert!(renamed.check(&old).is_ok());
    }
}
