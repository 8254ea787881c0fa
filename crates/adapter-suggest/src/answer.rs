//! Used fields of the provider's responses. Its records have many more fields, and may lack any of these.

use kontor_organization::model::{AddressSuggestion, BankSuggestion, CompanySuggestion};
use serde::Deserialize;

/// `{"suggestions": [{"value", "unrestricted_value", "data"}]}`
#[derive(Deserialize)]
pub(crate) struct Answer<Data> {
    pub suggestions: Vec<Suggestion<Data>>,
}

#[derive(Deserialize)]
pub(crate) struct Suggestion<Data> {
    value: String,
    unrestricted_value: Option<String>,
    data: Data,
}

#[derive(Deserialize)]
pub(crate) struct AddressData {
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
pub(crate) struct BankData {
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
pub(crate) struct CompanyData {
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
