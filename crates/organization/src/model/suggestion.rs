use kontor_kernel::{BankAccount, Bik, Line, Name};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Search text for addresses, banks or companies: a few words or a number.
pub type SuggestionQuery = Line<300>;

/// Suggested address. Missing parts are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressSuggestion {
    /// Address in one line.
    pub value: String,
    /// Address in one line, with the postal code.
    pub unrestricted_value: String,
    /// Postal code.
    pub postal_code: Option<String>,
    /// Country.
    pub country: Option<String>,
    /// Region, such as an oblast.
    pub region: Option<String>,
    /// City.
    pub city: Option<String>,
    /// Village or other settlement below a city.
    pub settlement: Option<String>,
    /// Street.
    pub street: Option<String>,
    /// House.
    pub house: Option<String>,
    /// Flat.
    pub flat: Option<String>,
    /// Identifier in the state register of addresses.
    pub fias_id: Option<String>,
    /// Latitude in decimal degrees.
    pub latitude: Option<String>,
    /// Longitude in decimal degrees.
    pub longitude: Option<String>,
}

/// Suggested bank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BankSuggestion {
    /// Name used in payments.
    pub name: String,
    /// Bank identification code.
    pub bic: Option<String>,
    /// International code.
    pub swift: Option<String>,
    /// Taxpayer number (INN).
    pub inn: Option<String>,
    /// Tax registration reason code (KPP).
    pub kpp: Option<String>,
    /// Account at the central bank.
    pub correspondent_account: Option<String>,
    /// Address in one line.
    pub address: Option<String>,
    /// `true` if it operates; `false` if it is closed or being closed.
    pub is_active: bool,
}

/// Fields of a bank that its accounts take over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankDetails {
    /// Name used in payments.
    pub name: Name,
    /// Account at the central bank; offices of the central bank have none.
    pub correspondent_account: Option<BankAccount>,
}

impl BankDetails {
    /// Converts a suggestion for the bank with this BIK. `None` if it is about another bank, or its name is
    /// invalid. An account that this bank cannot have is left out.
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

/// Suggested company.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompanySuggestion {
    /// Short name with the legal form.
    pub name: String,
    /// Full name with the legal form.
    pub full_name: Option<String>,
    /// Taxpayer number (INN).
    pub inn: Option<String>,
    /// Tax registration reason code (KPP); individuals have none.
    pub kpp: Option<String>,
    /// Number in the state register (OGRN).
    pub ogrn: Option<String>,
    /// `true` for an individual entrepreneur.
    pub is_individual: bool,
    /// Head of the company.
    pub management: Option<String>,
    /// Address in one line.
    pub address: Option<String>,
    /// `true` if it operates; `false` if it is closed, being closed or bankrupt.
    pub is_active: bool,
}

/// Search field of a company query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum CompanyField {
    /// Part of the name; numbers and addresses are accepted too.
    #[default]
    Name,
    /// Taxpayer number (INN), exact.
    Inn,
    /// Number in the state register (OGRN), exact.
    Ogrn,
}

/// Error for a search by number with a text that is no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 15 digits for a search by number")]
pub struct NotANumber;

/// Search for a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyQuery {
    text: SuggestionQuery,
    field: CompanyField,
}

impl CompanyQuery {
    /// Checks the query. Numbers have digits only, at most as many as the longest number has.
    pub fn new(text: SuggestionQuery, field: CompanyField) -> Result<Self, NotANumber> {
        let is_number = text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit());
        if field == CompanyField::Name || is_number { Ok(Self { text, field }) } else { Err(NotANumber) }
    }

    /// Search text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Search field.
    pub fn field(&self) -> CompanyField {
        self.field
    }

    /// Returns `true` if the company has the searched number. A search by name accepts every company.
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
