use std::sync::Arc;

use crate::SuggestionError;
use crate::model::{AddressSuggestion, BankSuggestion, CompanyQuery, CompanySuggestion, SuggestionQuery};
use crate::ports::SuggestionProvider;

/// Addresses, banks and companies that people may mean. They are the provider's: nothing is stored, nothing depends on
/// them, and everything suggested may be typed by hand instead.
pub struct SuggestionService {
    /// Who knows them.
    pub provider: Arc<dyn SuggestionProvider>,
}

impl SuggestionService {
    /// Addresses, the likeliest first.
    pub async fn addresses(&self, query: SuggestionQuery) -> Result<Vec<AddressSuggestion>, SuggestionError> {
        self.provider.addresses(query).await
    }

    /// Banks by name, BIC, SWIFT or taxpayer's number.
    pub async fn banks(&self, query: SuggestionQuery) -> Result<Vec<BankSuggestion>, SuggestionError> {
        self.provider.banks(query).await
    }

    /// Companies by name or by one of their numbers.
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
    async fn who_has_the_number_by_another_name_is_left_out() {
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
