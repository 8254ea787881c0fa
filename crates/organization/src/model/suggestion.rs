use kontor_kernel::{BankAccount, Bik, Line, Name};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// What is looked for among addresses, banks or companies: a few words or a number.
pub type SuggestionQuery = Line<300>;

/// An address that people may mean. Parts that it has not are absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressSuggestion {
    /// The address in one line.
    pub value: String,
    /// The same with the postal code.
    pub unrestricted_value: String,
    /// The postal code.
    pub postal_code: Option<String>,
    /// The country.
    pub country: Option<String>,
    /// The region, such as an oblast.
    pub region: Option<String>,
    /// The city.
    pub city: Option<String>,
    /// A village or another settlement below a city.
    pub settlement: Option<String>,
    /// The street.
    pub street: Option<String>,
    /// The house.
    pub house: Option<String>,
    /// The flat.
    pub flat: Option<String>,
    /// The number of the state register of addresses.
    pub fias_id: Option<String>,
    /// Degrees north, as a decimal text.
    pub latitude: Option<String>,
    /// Degrees east, as a decimal text.
    pub longitude: Option<String>,
}

/// A bank that people may mean.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BankSuggestion {
    /// The name used in payments.
    pub name: String,
    /// The bank identification code.
    pub bic: Option<String>,
    /// The international code.
    pub swift: Option<String>,
    /// The taxpayer's number.
    pub inn: Option<String>,
    /// The code of the reason of registration.
    pub kpp: Option<String>,
    /// The account at the central bank.
    pub correspondent_account: Option<String>,
    /// The address in one line.
    pub address: Option<String>,
    /// Whether it works; one that is being closed or closed does not.
    pub is_active: bool,
}

/// What an account takes over from its bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownBank {
    /// The name used in payments.
    pub name: Name,
    /// Its account at the central bank; offices of that one have none.
    pub correspondent_account: Option<BankAccount>,
}

impl KnownBank {
    /// What the suggestion says of the bank with this BIK; nothing when it is about another one, or makes no sense. An account
    /// that this bank cannot have is left out.
    pub fn of(suggestion: &BankSuggestion, bik: &Bik) -> Option<Self> {
        if suggestion.bic.as_deref() != Some(bik) {
            return None;
        }
        let account = suggestion.correspondent_account.as_deref().and_then(|text| BankAccount::parse(text).ok());
        Some(Self {
            name: Name::parse(&suggestion.name).ok()?,
            correspondent_account: account.filter(|account| account.check_correspondent(bik).is_ok()),
        })
    }
}

/// A company that people may mean.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompanySuggestion {
    /// The short name with the legal form.
    pub name: String,
    /// The full name with the legal form.
    pub full_name: Option<String>,
    /// The taxpayer's number.
    pub inn: Option<String>,
    /// The code of the reason of registration; individuals have none.
    pub kpp: Option<String>,
    /// The number of the state register.
    pub ogrn: Option<String>,
    /// Whether it is a person in business.
    pub is_individual: bool,
    /// Who runs it.
    pub management: Option<String>,
    /// The address in one line.
    pub address: Option<String>,
    /// Whether it works; one that is being closed, bankrupt or closed does not.
    pub is_active: bool,
}

/// By what a company is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum CompanyField {
    /// A part of its name; numbers and addresses are understood, too.
    #[default]
    Name,
    /// Its taxpayer's number, exactly.
    Inn,
    /// Its number of the state register, exactly.
    Ogrn,
}

/// A company is looked for by a number, and the text is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 15 digits when a number is looked for")]
pub struct NotANumber;

/// Which company is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyQuery {
    text: SuggestionQuery,
    field: CompanyField,
}

impl CompanyQuery {
    /// Numbers have digits only, and at most as many as the longest of them.
    pub fn new(text: SuggestionQuery, field: CompanyField) -> Result<Self, NotANumber> {
        let is_number = text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit());
        if field == CompanyField::Name || is_number { Ok(Self { text, field }) } else { Err(NotANumber) }
    }

    /// What is looked for.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// By what.
    pub fn field(&self) -> CompanyField {
        self.field
    }

    /// Whether a company has the number that is looked for; by name every one fits that is told.
    pub fn fits(&self, company: &CompanySuggestion) -> bool {
        match self.field {
            CompanyField::Name => true,
            CompanyField::Inn => company.inn.as_deref() == Some(self.text()),
            CompanyField::Ogrn => company.ogrn.as_deref() == Some(self.text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str, field: CompanyField) -> Result<CompanyQuery, NotANumber> {
        CompanyQuery::new(Line::parse(text).unwrap(), field)
    }

    #[test]
    fn numbers_are_looked_for_by_digits() {
        assert!(query("Рога и копыта", CompanyField::Name).is_ok());
        assert!(query("7707083893", CompanyField::Inn).is_ok());
        for text in ["77 07", "ИНН", "٧٧٠٧٠٨٣٨٩٣", "1234567890123456"] {
            assert_eq!(query(text, CompanyField::Inn), Err(NotANumber), "{text}");
            assert_eq!(query(text, CompanyField::Ogrn), Err(NotANumber), "{text}");
        }
    }

    #[test]
    fn a_number_of_another_kind_does_not_fit() {
        let company = CompanySuggestion {
            inn: Some("7707083893".to_owned()),
            ogrn: Some("1027700132195".to_owned()),
            ..CompanySuggestion::default()
        };
        assert!(query("7707083893", CompanyField::Inn).unwrap().fits(&company));
        assert!(!query("7707083893", CompanyField::Ogrn).unwrap().fits(&company));
        assert!(query("7707083893", CompanyField::Name).unwrap().fits(&company));
    }
}
