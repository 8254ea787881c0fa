use std::sync::Arc;

use kontor_kernel::Bik;

use crate::SuggestionError;
use crate::model::{AddressSuggestion, BankDetails, BankSuggestion, CompanyQuery, CompanySuggestion, SuggestionQuery};
use crate::ports::SuggestionProvider;

/// Suggestions of addresses, banks and companies from a provider. They are not stored, and callers may always
/// enter other values.
pub struct SuggestionService {
    /// Provider of suggestions.
    pub provider: Arc<dyn SuggestionProvider>,
}

impl SuggestionService {
    /// Returns addresses, the likeliest first.
    pub async fn addresses(&self, query: SuggestionQuery) -> Result<Vec<AddressSuggestion>, SuggestionError> {
        self.provider.addresses(query).await
    }

    /// Returns banks by name, BIC, SWIFT or taxpayer number.
    pub async fn banks(&self, query: SuggestionQuery) -> Result<Vec<BankSuggestion>, SuggestionError> {
        self.provider.banks(query).await
    }

    /// Returns the bank with this BIK, if the provider has it.
    pub async fn bank(&self, bik: &Bik) -> Result<Option<BankDetails>, SuggestionError> {
        let Ok(query) = SuggestionQuery::parse(bik) else { return Ok(None) };
        let found = self.provider.banks(query).await?;
        Ok(found.iter().find_map(|bank| BankDetails::of(bank, bik)))
    }

    /// Returns companies by name or by one of their numbers.
    pub async fn companies(&self, query: CompanyQuery) -> Result<Vec<CompanySuggestion>, SuggestionError> {
        let mut found = self.provider.companies(query.clone()).await?;
        found.retain(|company| query.fits(company));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CompanyField;
    use crate::ports::MockSuggestionProvider;
    use kontor_kernel::Line;

    #[tokio::test]
    async fn a_bank_is_known_by_its_whole_number_alone() {
        let mut provider = MockSuggestionProvider::new();
        provider.expect_banks().returning(|_| {
            let bank = |bic: &str, name: &str, account: &str| BankSuggestion {
                name: name.to_owned(),
                bic: Some(bic.to_owned()),
                correspondent_account: Some(account.to_owned()),
                ..BankSuggestion::default()
            };
            Ok(vec![
                bank("044525411", "Other", "30101810145250000411"),
                bank("044525225", "Bank", "30101810400000000225"),
                bank("044525974", "Odd", "30101810145250000975"),
                bank("044525187", " ", "30101810700000000187"),
            ])
        });
        let service = SuggestionService { provider: Arc::new(provider) };
        let known = async |bik: &str| service.bank(&Bik::parse(bik).unwrap()).await.unwrap();
        let bank = known("044525225").await.unwrap();
        let account = bank.correspondent_account.map(|account| account.to_string());
        assert_eq!((bank.name.as_str(), account.as_deref()), ("Bank", Some("30101810400000000225")));
        assert_eq!(known("044525974").await.unwrap().correspondent_account, None, "no account of this bank");
        assert_eq!((known("044525187").await, known("040173604").await), (None, None));
    }

    #[tokio::test]
    async fn suggestions_with_another_name_are_omitted() {
        let mut provider = MockSuggestionProvider::new();
        provider.expect_companies().returning(|_| {
            let company = |inn: &str, ogrn: &str| CompanySuggestion {
                inn: Some(inn.to_owned()),
                ogrn: Some(ogrn.to_owned()),
                ..CompanySuggestion::default()
            };
            Ok(vec![company("1", "2"), company("2", "1")])
        });
        let query = CompanyQuery::new(Line::parse("1").unwrap(), CompanyField::Ogrn).unwrap();
        let found = SuggestionService { provider: Arc::new(provider) }.companies(query).await.unwrap();
        assert_eq!(found.iter().map(|company| company.inn.as_deref()).collect::<Vec<_>>(), [Some("2")]);
    }
}
