//! Registration numbers and bank accounts of companies in Russia, with their check digits.

use std::fmt;
use std::ops::Deref;

use chrono::{DateTime, Utc};

use crate::history::AuditedField;
use crate::{BankRequisiteId, Edit, Line, Name, Violations};

/// Reason why a number is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequisiteError {
    /// The number has neither 10 nor 12 digits.
    #[error("must have 10 digits, or 12 for a person")]
    InnForm,
    /// The check digits are wrong.
    #[error("has a wrong check digit")]
    InnCheck,
    /// The number does not have four digits, two digits or capital letters, three digits.
    #[error("must have 9 characters such as 770701001")]
    Kpp,
    /// The number does not have nine digits beginning with 0.
    #[error("must have 9 digits and begin with 0")]
    Bik,
    /// The number does not have twenty digits.
    #[error("must have 20 digits")]
    Account,
    /// The check digit does not fit the BIK.
    #[error("has a wrong check digit or does not match the BIK")]
    AccountCheck,
}

macro_rules! numbers {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// Returns the number.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

numbers! {
    /// Taxpayer number (INN): 10 digits of a company, 12 of a person.
    Inn;
    /// Code of the reason for tax registration of a company (KPP).
    Kpp;
    /// Bank identification code (BIK).
    Bik;
    /// Bank account, correspondent accounts included: 20 digits.
    BankAccount;
}

/// Returns the digits of a text of exactly `count` digits.
fn digits(text: &str, count: usize) -> Option<Vec<u32>> {
    let digits: Option<Vec<u32>> = text.chars().map(|letter| letter.to_digit(10)).collect();
    digits.filter(|digits| digits.len() == count)
}

fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// Weights of the last check digit of 12; the other check digits use suffixes of this list.
const INN_WEIGHTS: [u32; 11] = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8];

impl Inn {
    /// Checks the form and the check digits.
    pub fn parse(text: &str) -> Result<Self, RequisiteError> {
        let text = text.trim();
        let digits = digits(text, 10).or_else(|| digits(text, 12)).ok_or(RequisiteError::InnForm)?;
        // Checks the digit that follows `before` digits.
        let fits = |before: usize| {
            let (number, weights) = (digits.get(..before), INN_WEIGHTS.get(INN_WEIGHTS.len() - before..));
            let sum = number.zip(weights).map(|(number, weights)| weighted(number, weights));
            sum.map(|sum| sum % 11 % 10) == digits.get(before).copied()
        };
        let checked = if digits.len() == 10 { fits(9) } else { fits(10) && fits(11) };
        // No region has the number 00; otherwise a number of zeros only would pass.
        if checked && !text.starts_with("00") { Ok(Self(text.to_owned())) } else { Err(RequisiteError::InnCheck) }
    }

    /// Returns `true` for the number of a person, entrepreneurs included.
    pub fn is_personal(&self) -> bool {
        self.0.len() == 12
    }
}

impl Kpp {
    /// Checks the form; there is no check digit.
    pub fn parse(text: &str) -> Result<Self, RequisiteError> {
        let text = text.trim();
        let fits = |(place, letter): (usize, char)| {
            letter.is_ascii_digit() || matches!(place, 4 | 5) && letter.is_ascii_uppercase()
        };
        let formed = text.len() == 9 && text.chars().enumerate().all(fits);
        if formed { Ok(Self(text.to_owned())) } else { Err(RequisiteError::Kpp) }
    }
}

impl Bik {
    /// Checks the form; there is no check digit.
    pub fn parse(text: &str) -> Result<Self, RequisiteError> {
        let text = text.trim();
        let formed = digits(text, 9).is_some() && text.starts_with('0');
        if formed { Ok(Self(text.to_owned())) } else { Err(RequisiteError::Bik) }
    }
}

impl BankAccount {
    /// Checks the form only. The check digit depends on the BIK.
    pub fn parse(text: &str) -> Result<Self, RequisiteError> {
        let text = text.trim();
        digits(text, 20).map(|_| Self(text.to_owned())).ok_or(RequisiteError::Account)
    }

    /// Refuses an account that no customer of this bank can have.
    pub fn check(&self, bik: &Bik) -> Result<(), RequisiteError> {
        // Accounts at an office of the central bank are checked like correspondent accounts.
        if matches!(bik.get(6..), Some("000" | "001" | "002")) {
            return self.check_correspondent(bik);
        }
        self.fits(bik.get(6..).unwrap_or_default())
    }

    /// Refuses a correspondent account that this bank cannot have.
    pub fn check_correspondent(&self, bik: &Bik) -> Result<(), RequisiteError> {
        self.fits(&format!("0{}", bik.get(4..6).unwrap_or_default()))
    }

    /// Three digits of the bank and the account, weighted 7, 1, 3 in turn, must add up to a multiple of ten.
    fn fits(&self, bank: &str) -> Result<(), RequisiteError> {
        let weights = [7, 1, 3].into_iter().cycle();
        let digits = bank.chars().chain(self.0.chars()).filter_map(|letter| letter.to_digit(10));
        let sum: u32 = digits.zip(weights).map(|(digit, weight)| digit * weight).sum();
        if sum.is_multiple_of(10) { Ok(()) } else { Err(RequisiteError::AccountCheck) }
    }
}

/// Bank account of a customer or of a business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankRequisite {
    /// Identifier, unique among those of customers or among those of businesses.
    pub id: BankRequisiteId,
    /// Editable fields.
    pub content: BankRequisiteDraft,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// Editable fields of a bank account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankRequisiteDraft {
    /// BIK of the bank.
    pub bik: Bik,
    /// Name of the bank.
    pub bank_name: Name,
    /// Account of the bank at the central bank; `None` for offices of the central bank.
    pub correspondent_account: Option<BankAccount>,
    /// Account number.
    pub account: BankAccount,
    /// Comment.
    pub comment: Option<Line<500>>,
}

/// Change of a bank account.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BankRequisiteChange {
    /// BIK of the bank.
    pub bik: Edit<Bik>,
    /// Name of the bank.
    pub bank_name: Edit<Name>,
    /// Account of the bank at the central bank.
    pub correspondent_account: Edit<Option<BankAccount>>,
    /// Account number.
    pub account: Edit<BankAccount>,
    /// Comment.
    pub comment: Edit<Option<Line<500>>>,
}

impl BankRequisiteDraft {
    /// Refuses account numbers whose check digits do not fit the bank.
    pub fn check(&self) -> Result<(), Violations> {
        let mut wrong = Violations::default();
        wrong.check("account", self.account.check(&self.bik));
        if let Some(account) = &self.correspondent_account {
            wrong.check("correspondent_account", account.check_correspondent(&self.bik));
        }
        wrong.into_result()
    }

    /// Returns the account after a change. The result is not checked.
    #[must_use]
    pub fn changed(&self, change: BankRequisiteChange) -> Self {
        let before = self.clone();
        Self {
            bik: change.bik.or(before.bik),
            bank_name: change.bank_name.or(before.bank_name),
            correspondent_account: change.correspondent_account.or(before.correspondent_account),
            account: change.account.or(before.account),
            comment: change.comment.or(before.comment),
        }
    }

    /// Returns all fields, always in the same order.
    pub fn fields(&self) -> Vec<AuditedField> {
        let Self { bik, bank_name, correspondent_account, account, comment } = self;
        vec![
            ("bik", Some(bik.to_string())),
            ("bank_name", Some(bank_name.to_string())),
            ("correspondent_account", correspondent_account.as_ref().map(ToString::to_string)),
            ("account", Some(account.to_string())),
            ("comment", comment.as_ref().map(ToString::to_string)),
        ]
    }
}

impl BankRequisite {
    /// Name in history entries.
    pub const NAME: &'static str = "bank_requisites";

    /// Maximum number per owner.
    pub const MAX_PER_OWNER: i64 = 100;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taxpayers_number_has_its_check_digits() {
        for (text, personal) in [("7707083893", false), (" 7736207543 ", false), ("500100732259", true)] {
            assert_eq!(Inn::parse(text).unwrap().is_personal(), personal, "{text}");
        }
        for form in ["", "770708389", "77070838930", "7707083893000", "770708389x", "٧٧٠٧٠٨٣٨٩٣", "77 07083893"]
        {
            assert_eq!(Inn::parse(form), Err(RequisiteError::InnForm), "{form}");
        }
        for check in ["7707083894", "7707083983", "500100732258", "500100732269", "0000000000", "000000000000"] {
            assert_eq!(Inn::parse(check), Err(RequisiteError::InnCheck), "{check}");
        }
    }

    #[test]
    fn every_digit_of_a_taxpayers_number_counts() {
        for right in ["7707083893", "500100732259"] {
            for place in 0..right.len() {
                let mut wrong: Vec<char> = right.chars().collect();
                let digit = wrong[place].to_digit(10).unwrap();
                wrong[place] = char::from_digit((digit + 1) % 10, 10).unwrap();
                let wrong: String = wrong.into_iter().collect();
                assert!(Inn::parse(&wrong).is_err(), "{wrong}");
            }
        }
    }

    #[test]
    fn codes_and_banks_have_their_form() {
        for text in ["770701001", "7707AZ001"] {
            assert!(Kpp::parse(text).is_ok(), "{text}");
        }
        for text in ["", "77070100", "7707010011", "7A0701001", "7707az001", "7707ЯЯ01"] {
            assert_eq!(Kpp::parse(text), Err(RequisiteError::Kpp), "{text}");
        }
        assert!(Bik::parse("044525225").is_ok());
        for text in ["", "04452522", "0445252255", "144525225", "04452522x"] {
            assert_eq!(Bik::parse(text), Err(RequisiteError::Bik), "{text}");
        }
    }

    #[test]
    fn an_account_is_of_its_bank() {
        let account = |text| BankAccount::parse(text).unwrap();
        let (sber, vtb) = (Bik::parse("044525225").unwrap(), Bik::parse("044525187").unwrap());
        let current = account("40702810938000000001");
        assert_eq!(current.check(&sber), Ok(()));
        assert_eq!(current.check(&vtb), Err(RequisiteError::AccountCheck));
        assert_eq!(account("40702810938000000002").check(&sber), Err(RequisiteError::AccountCheck));
        assert_eq!(account("40702810500000000007").check(&vtb), Ok(()));
        let correspondent = account("30101810400000000225");
        assert_eq!(correspondent.check_correspondent(&sber), Ok(()));
        assert_eq!(correspondent.check(&sber), Err(RequisiteError::AccountCheck));
        assert_eq!(account("30101810700000000187").check_correspondent(&vtb), Ok(()));
        let office = Bik::parse("044525000").unwrap();
        assert_eq!(correspondent.check(&office), correspondent.check_correspondent(&office));
        for text in ["", "4070281093800000000", "407028109380000000011", "4070281093800000000A"] {
            assert_eq!(BankAccount::parse(text), Err(RequisiteError::Account), "{text}");
        }
    }

    #[test]
    fn a_number_is_written_as_it_was_read() {
        let (inn, bik) = (Inn::parse(" 7707083893 ").unwrap(), Bik::parse("044525225").unwrap());
        assert_eq!((inn.as_str(), &*inn, inn.to_string().as_str()), ("7707083893", "7707083893", "7707083893"));
        assert_eq!((bik.as_str(), &*bik, bik.to_string().as_str()), ("044525225", "044525225", "044525225"));
    }

    #[test]
    fn accounts_in_each_office_of_the_central_bank_are_checked_as_its_own() {
        let account = BankAccount::parse("30101810400000000225").unwrap();
        for ending in ["000", "001", "002"] {
            assert_eq!(account.check(&Bik::parse(&format!("044525{ending}")).unwrap()), Ok(()), "{ending}");
        }
        assert_eq!(account.check(&Bik::parse("044525003").unwrap()), Err(RequisiteError::AccountCheck));
    }

    fn draft(bik: &str, account: &str, correspondent: Option<&str>) -> BankRequisiteDraft {
        BankRequisiteDraft {
            bik: Bik::parse(bik).unwrap(),
            bank_name: Name::parse("Bank").unwrap(),
            correspondent_account: correspondent.map(|text| BankAccount::parse(text).unwrap()),
            account: BankAccount::parse(account).unwrap(),
            comment: None,
        }
    }

    fn wrong(draft: &BankRequisiteDraft) -> Vec<String> {
        draft.check().err().unwrap_or_default().fields().keys().cloned().collect()
    }

    #[test]
    fn accounts_are_those_of_the_bank() {
        let right = draft("044525225", "40702810938000000001", Some("30101810400000000225"));
        assert!(wrong(&right).is_empty());
        let both = draft("044525225", "40702810938000000002", Some("30101810500000000225"));
        assert_eq!(wrong(&both), ["account", "correspondent_account"]);
        let bik = Edit::Set(Bik::parse("044525187").unwrap());
        let moved = right.changed(BankRequisiteChange { bik, ..BankRequisiteChange::default() });
        assert_eq!(wrong(&moved), ["account"]);
        assert_eq!(right.changed(BankRequisiteChange::default()), right);
    }

    #[test]
    fn a_history_has_every_field_of_an_account() {
        let mut reported = draft("044525225", "40702810938000000001", None);
        let value = |text: &str| Some(text.to_owned());
        let bank = [("bik", value("044525225")), ("bank_name", value("Bank"))];
        let account = ("account", value("40702810938000000001"));
        let bare = [&bank[..], &[("correspondent_account", None), account.clone(), ("comment", None)]].concat();
        assert_eq!(reported.fields(), bare);
        reported.correspondent_account = Some(BankAccount::parse("30101810400000000225").unwrap());
        reported.comment = Some(Line::parse("for rent").unwrap());
        let whole = [("correspondent_account", value("30101810400000000225")), account, ("comment", value("for rent"))];
        assert_eq!(reported.fields(), [&bank[..], &whole].concat());
    }
}
