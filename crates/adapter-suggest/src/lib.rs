//! Suggestions of addresses, banks and companies, over HTTP.
//!
//! **Implements** `kontor_organization::ports::SuggestionProvider` ([`Suggestions`]: DaData's suggestions API 4.1).
//!
//! **Invariants**
//! - Every exchange ends within three seconds and is not retried, because users continue to type.
//! - No redirect is followed, no proxy is used, at most 1 MiB of a response is read.
//! - Errors contain neither the key nor the searched text.

use std::time::Duration;

use async_trait::async_trait;
use kontor_kernel::{ExposeSecret, SecretString};
use kontor_organization::SuggestionError;
use kontor_organization::model::{
    AddressSuggestion, BankSuggestion, CompanyField, CompanyQuery, CompanySuggestion, SuggestionQuery,
};
use kontor_organization::ports::SuggestionProvider;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// Timeout, as in the provider's own client.
const TIMEOUT: Duration = Duration::from_secs(3);
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;
/// Number of suggestions, as in the provider's own client.
const COUNT: u32 = 10;

/// The HTTP client could not be created; usually the machine has no certificate authorities.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be created: {0}")]
pub struct ClientError(#[from] reqwest::Error);

/// Address and key of the provider.
#[derive(Debug, Clone)]
pub struct SuggestSettings {
    /// Base URL, such as `https://suggestions.dadata.ru/suggestions/api/4_1/rs`.
    pub base_url: String,
    /// Key of the account; empty when there is none.
    pub api_key: SecretString,
}

/// DaData client. Connections are kept open: the provider refuses clients that open many.
pub struct Suggestions {
    client: reqwest::Client,
    base_url: String,
    /// `None`: there is no account, or its key is not a valid header value.
    authorization: Option<HeaderValue>,
    timeout: Duration,
}

fn unavailable(error: reqwest::Error) -> SuggestionError {
    SuggestionError::Unavailable(error.without_url().to_string())
}

impl Suggestions {
    /// Creates a client of the provider with a timeout of three seconds.
    pub fn new(settings: SuggestSettings) -> Result<Self, ClientError> {
        // An error means that the process has chosen its TLS provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .user_agent(concat!("Kontor/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let key = settings.api_key.expose_secret();
        let authorization = (!key.is_empty()).then(|| HeaderValue::from_str(&format!("Token {key}")).ok()).flatten();
        let authorization = authorization.map(|mut value| {
            value.set_sensitive(true);
            value
        });
        let base_url = settings.base_url.trim_end_matches('/').to_owned();
        Ok(Self { client, base_url, authorization, timeout: TIMEOUT })
    }

    /// Sets another timeout for a whole exchange.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    async fn ask<Data, Record>(&self, method: &str, query: &str) -> Result<Vec<Record>, SuggestionError>
    where
        Data: DeserializeOwned,
        Record: From<Suggestion<Data>>,
    {
        let authorization = self.authorization.clone().ok_or(SuggestionError::NotConfigured)?;
        let post = self
            .client
            .post(format!("{}/{method}", self.base_url))
            .timeout(self.timeout)
            .header(AUTHORIZATION, authorization)
            .header(ACCEPT, "application/json")
            .json(&json!({ "query": query, "count": COUNT }));
        let response = kontor_traces::send(post, "suggestions").await.map_err(unavailable)?;
        let status = response.status();
        if status != StatusCode::OK {
            return Err(SuggestionError::Unavailable(format!("the provider answered {status}")));
        }
        let body = read(response).await?;
        let answer: Answer<Data> = serde_json::from_slice(&body)
            .map_err(|_| SuggestionError::Unavailable("the response of the provider is not valid".to_owned()))?;
        Ok(answer.suggestions.into_iter().map(Into::into).collect())
    }
}

/// Reads the body up to the size limit.
async fn read(mut response: Response) -> Result<Vec<u8>, SuggestionError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unavailable)? {
        if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
            return Err(SuggestionError::Unavailable("the response of the provider is too long".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[async_trait]
impl SuggestionProvider for Suggestions {
    async fn addresses(&self, query: SuggestionQuery) -> Result<Vec<AddressSuggestion>, SuggestionError> {
        self.ask::<AddressData, _>("suggest/address", &query).await
    }

    async fn banks(&self, query: SuggestionQuery) -> Result<Vec<BankSuggestion>, SuggestionError> {
        self.ask::<BankData, _>("suggest/bank", &query).await
    }

    async fn companies(&self, query: CompanyQuery) -> Result<Vec<CompanySuggestion>, SuggestionError> {
        let method = match query.field() {
            CompanyField::Name => "suggest/party",
            CompanyField::Inn | CompanyField::Ogrn => "findById/party",
        };
        self.ask::<CompanyData, _>(method, query.text()).await
    }
}

/// `{"suggestions": [{"value", "unrestricted_value", "data"}]}`: the used fields. Records of the provider have many
/// more fields, and may lack any of these.
#[derive(Deserialize)]
struct Answer<Data> {
    suggestions: Vec<Suggestion<Data>>,
}

#[derive(Deserialize)]
struct Suggestion<Data> {
    value: String,
    unrestricted_value: Option<String>,
    data: Data,
}

#[derive(Deserialize)]
struct AddressData {
    postal_code: Option<String>,
    country: Option<String>,
    region_with_type: Option<String>,
    city: Option<String>,
    settlement_with_type: Option<String>,
    street_with_type: Option<String>,
    house: Option<String>,
    flat: Option<String>,
    fias_id: Option<String>,
    geo_lat: Option<String>,
    geo_lon: Option<String>,
}

impl From<Suggestion<AddressData>> for AddressSuggestion {
    fn from(found: Suggestion<AddressData>) -> Self {
        let data = found.data;
        Self {
            unrestricted_value: found.unrestricted_value.unwrap_or_else(|| found.value.clone()),
            value: found.value,
            postal_code: data.postal_code,
            country: data.country,
            region: data.region_with_type,
            city: data.city,
            settlement: data.settlement_with_type,
            street: data.street_with_type,
            house: data.house,
            flat: data.flat,
            fias_id: data.fias_id,
            latitude: data.geo_lat,
            longitude: data.geo_lon,
        }
    }
}

#[derive(Deserialize)]
struct Place {
    value: Option<String>,
}

#[derive(Deserialize)]
struct State {
    status: Option<String>,
}

/// Returns `true` if the company is active. Without a state it counts as active.
fn works(state: Option<&State>) -> bool {
    state.and_then(|state| state.status.as_deref()).is_none_or(|status| status == "ACTIVE" || status == "REORGANIZING")
}

#[derive(Deserialize)]
struct BankName {
    payment: Option<String>,
}

#[derive(Deserialize)]
struct BankData {
    bic: Option<String>,
    swift: Option<String>,
    inn: Option<String>,
    kpp: Option<String>,
    correspondent_account: Option<String>,
    name: Option<BankName>,
    address: Option<Place>,
    state: Option<State>,
}

impl From<Suggestion<BankData>> for BankSuggestion {
    fn from(found: Suggestion<BankData>) -> Self {
        let data = found.data;
        Self {
            name: data.name.and_then(|name| name.payment).unwrap_or(found.value),
            bic: data.bic,
            swift: data.swift,
            inn: data.inn,
            kpp: data.kpp,
            correspondent_account: data.correspondent_account,
            address: data.address.and_then(|address| address.value),
            is_active: works(data.state.as_ref()),
        }
    }
}

#[derive(Deserialize)]
struct CompanyName {
    full_with_opf: Option<String>,
    short_with_opf: Option<String>,
}

#[derive(Deserialize)]
struct Manager {
    name: Option<String>,
}

#[derive(Deserialize)]
struct CompanyData {
    inn: Option<String>,
    kpp: Option<String>,
    ogrn: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    name: Option<CompanyName>,
    management: Option<Manager>,
    address: Option<Place>,
    state: Option<State>,
}

impl From<Suggestion<CompanyData>> for CompanySuggestion {
    fn from(found: Suggestion<CompanyData>) -> Self {
        let data = found.data;
        let (short, full) = data.name.map_or((None, None), |name| (name.short_with_opf, name.full_with_opf));
        Self {
            name: short.unwrap_or(found.value),
            full_name: full,
            inn: data.inn,
            kpp: data.kpp,
            ogrn: data.ogrn,
            is_individual: data.kind.as_deref() == Some("INDIVIDUAL"),
            management: data.management.and_then(|manager| manager.name),
            address: data.address.and_then(|address| address.value),
            is_active: works(data.state.as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_may_lack_anything_and_have_more() {
        let answer: Answer<CompanyData> = serde_json::from_str(
            r#"{"suggestions":[{"value":"ИП Иванов","unrestricted_value":"ИП Иванов","data":{"inn":"1","type":"INDIVIDUAL",
               "management":null,"name":{"full_with_opf":"Индивидуальный предприниматель Иванов","short_with_opf":null},
               "state":{"status":"LIQUIDATED","actuality_date":1}, "okveds":[{"code":"1"}]}}]}"#,
        )
        .unwrap();
        let company = CompanySuggestion::from(answer.suggestions.into_iter().next().unwrap());
        assert_eq!((company.name.as_str(), company.is_individual, company.is_active), ("ИП Иванов", true, false));
        let answer: Answer<BankData> = serde_json::from_str(r#"{"suggestions":[{"value":"БАНК","data":{}}]}"#).unwrap();
        let bank = BankSuggestion::from(answer.suggestions.into_iter().next().unwrap());
        assert_eq!(bank, BankSuggestion { name: "БАНК".to_owned(), is_active: true, ..BankSuggestion::default() });
    }
}
