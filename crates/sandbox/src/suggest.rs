//! The provider of suggestions: DaData's suggestions API 4.1, over a few built-in records.

use std::sync::LazyLock;

use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, CONTENT_TYPE};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, Data, Path, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Value, json};

use crate::faults;
use crate::state::SandboxState;

const MAX_QUERY_LENGTH: usize = 300;
const USUAL_COUNT: usize = 10;
const MAX_COUNT: usize = 20;

static ADDRESS_RECORDS: LazyLock<Vec<Record>> = LazyLock::new(addresses);
static BANK_RECORDS: LazyLock<Vec<Record>> = LazyLock::new(banks);
static PARTY_RECORDS: LazyLock<Vec<Record>> = LazyLock::new(parties);

/// Registers both methods, POST only.
pub fn routes(config: &mut ServiceConfig) {
    config.service(
        web::resource("/suggestions/api/4_1/rs/{method}/{kind}")
            .wrap(from_fn(faults::suggest))
            .route(web::post().to(suggest))
            .default_service(web::to(wrong_method)),
    );
}

/// A refusal: status, reason and message.
struct Refusal(StatusCode, &'static str, &'static str);

impl Refusal {
    fn answer(self) -> HttpResponse {
        let Self(status, reason, message) = self;
        let family = if status.is_client_error() { "CLIENT_ERROR" } else { "SERVER_ERROR" };
        HttpResponse::build(status).json(json!({ "family": family, "reason": reason, "message": message }))
    }
}

async fn wrong_method() -> HttpResponse {
    Refusal(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed", "POST is expected").answer()
}

/// Returns the response to a call hit by an `http_500` fault.
pub fn internal_error() -> HttpResponse {
    Refusal(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error", "something went wrong").answer()
}

/// Returns the response to a call hit by a `refuse` fault.
pub fn limit_spent() -> HttpResponse {
    Refusal(StatusCode::FORBIDDEN, "Forbidden", "the limit of the day is spent").answer()
}

/// Checks the key. A missing key and an unknown key get different refusals.
fn authenticate(call: &HttpRequest, sandbox_state: &SandboxState) -> Result<(), Refusal> {
    let header = call.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = header.and_then(|value| value.strip_prefix("Token ")).filter(|key| !key.is_empty());
    match key {
        None => Err(Refusal(StatusCode::UNAUTHORIZED, "Unauthorized", "the key is missing")),
        Some(key) if key != sandbox_state.suggest_api_key => {
            Err(Refusal(StatusCode::FORBIDDEN, "Forbidden", "Feature 'SUGGESTIONS' disabled for token"))
        }
        Some(_) => Ok(()),
    }
}

/// Reads the query and the maximum number of results.
fn read(call: &HttpRequest, body: &[u8]) -> Result<(String, usize), Refusal> {
    let bad = |message| Refusal(StatusCode::BAD_REQUEST, "Bad Request", message);
    let kind = call.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/json") {
        return Err(Refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Unsupported Media Type", "JSON is expected"));
    }
    let body: Value = serde_json::from_slice(body).map_err(|_| bad("the body is not JSON"))?;
    let query = body.get("query").and_then(Value::as_str).ok_or_else(|| bad("`query` is missing"))?;
    if query.chars().count() > MAX_QUERY_LENGTH {
        return Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large", "`query` is too long"));
    }
    let count = body.get("count").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
    Ok((query.trim().to_lowercase(), count.unwrap_or(USUAL_COUNT).min(MAX_COUNT)))
}

async fn suggest(
    call: HttpRequest,
    path: Path<(String, String)>,
    sandbox_state: Data<SandboxState>,
    body: Bytes,
) -> HttpResponse {
    let (method, kind) = path.into_inner();
    find(&call, (&method, &kind), &sandbox_state, &body).unwrap_or_else(Refusal::answer)
}

fn find(
    call: &HttpRequest,
    (method, kind): (&str, &str),
    sandbox_state: &SandboxState,
    body: &[u8],
) -> Result<HttpResponse, Refusal> {
    let nothing = |message| Refusal(StatusCode::NOT_FOUND, "Not Found", message);
    let records = match kind {
        "address" => &*ADDRESS_RECORDS,
        "bank" => &*BANK_RECORDS,
        "party" => &*PARTY_RECORDS,
        _ => return Err(nothing("there is no such directory")),
    };
    let fits: fn(&Record, &str) -> bool = match method {
        "suggest" => Record::mentions,
        "findById" => Record::is,
        _ => return Err(nothing("there is no such method")),
    };
    authenticate(call, sandbox_state)?;
    let (query, count) = read(call, body)?;
    let found: Vec<&Value> =
        records.iter().filter(|record| fits(record, &query)).take(count).map(|record| &record.view).collect();
    Ok(HttpResponse::Ok().json(json!({ "suggestions": found })))
}

/// One record of a directory.
pub struct Record {
    /// The record on the wire: `{value, unrestricted_value, data}`.
    pub view: Value,
    /// Searchable text, in lower case.
    words: String,
    /// Numbers for exact search.
    numbers: Vec<String>,
}

impl Record {
    fn new(view: Value, numbers: &[&str]) -> Self {
        let text = |name: &str| view.get(name).and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let words = format!("{} {} {}", text("value"), text("unrestricted_value"), numbers.join(" ").to_lowercase());
        let numbers = numbers.iter().map(|number| number.to_lowercase()).collect();
        Self { view, words, numbers }
    }

    /// Returns `true` if each word of the query, in lower case, is the beginning of a word of the record.
    pub fn mentions(&self, query: &str) -> bool {
        let parts = |text: &str| -> Vec<String> {
            text.split(|letter: char| !letter.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let (own, asked) = (parts(&self.words), parts(query));
        !asked.is_empty() && asked.iter().all(|word| own.iter().any(|own| own.starts_with(word.as_str())))
    }

    /// Returns `true` if the record has this number, in lower case.
    pub fn is(&self, number: &str) -> bool {
        self.numbers.iter().any(|own| own == number)
    }
}

/// Postal code, region, city, street, house, register number, latitude, longitude.
type Address =
    (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

const ADDRESSES: [Address; 8] = [
    ("125009", "г Москва", "Москва", "ул Тверская", "7", "fias-0001", "55.758463", "37.610797"),
    ("125009", "г Москва", "Москва", "ул Тверская", "12", "fias-0002", "55.763070", "37.607230"),
    ("119019", "г Москва", "Москва", "ул Новый Арбат", "15", "fias-0003", "55.752500", "37.590400"),
    ("101000", "г Москва", "Москва", "ул Мясницкая", "24", "fias-0004", "55.763600", "37.636500"),
    ("191186", "г Санкт-Петербург", "Санкт-Петербург", "Невский пр-кт", "28", "fias-0005", "59.935800", "30.325900"),
    ("191025", "г Санкт-Петербург", "Санкт-Петербург", "Невский пр-кт", "85", "fias-0006", "59.930400", "30.362300"),
    ("236022", "Калининградская обл", "Калининград", "пл Победы", "1", "fias-0007", "54.719200", "20.500900"),
    ("420111", "Респ Татарстан", "Казань", "ул Баумана", "44", "fias-0008", "55.789800", "49.115600"),
];

/// Returns addresses of houses.
pub fn addresses() -> Vec<Record> {
    let record = |(postal, region, city, street, house, fias, latitude, longitude): Address| {
        let own = region.ends_with(city);
        let value = if own {
            format!("{region}, {street}, д {house}")
        } else {
            format!("{region}, г {city}, {street}, д {house}")
        };
        let view = json!({
            "value": value,
            "unrestricted_value": format!("{postal}, {value}"),
            "data": {
                "postal_code": postal, "country": "Россия", "country_iso_code": "RU",
                "region_with_type": region, "city": city, "city_with_type": format!("г {city}"),
                "area": null, "settlement": null, "settlement_with_type": null,
                "street_with_type": street, "house_type": "д", "house": house, "flat": null,
                "fias_id": fias, "fias_level": "8", "geo_lat": latitude, "geo_lon": longitude,
                "qc_geo": "0", "metro": null,
            },
        });
        Record::new(view, &[fias])
    };
    ADDRESSES.into_iter().map(record).collect()
}

/// Name, BIC, SWIFT, taxpayer's number, code of the reason, correspondent account, address, state.
type Bank = (
    &'static str,
    &'static str,
    Option<&'static str>,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const BANKS: [Bank; 4] = [
    (
        "ПАО Сбербанк",
        "044525225",
        Some("SABRRUMMXXX"),
        "7707083893",
        "773601001",
        "30101810400000000225",
        "г Москва, ул Вавилова, д 19",
        "ACTIVE",
    ),
    (
        "Филиал Центральный Банка ВТБ (ПАО)",
        "044525411",
        Some("VTBRRUM2XXX"),
        "7702070139",
        "770943002",
        "30101810145250000411",
        "г Москва, ул Воронцовская, д 43 стр 1",
        "ACTIVE",
    ),
    (
        "АО ТБанк",
        "044525974",
        Some("TICSRUMMXXX"),
        "7710140679",
        "771301001",
        "30101810145250000974",
        "г Москва, ул Хуторская 2-я, д 38А стр 26",
        "ACTIVE",
    ),
    (
        "АО Банк Песочница",
        "044599999",
        None,
        "7700000024",
        "770001001",
        "30101810000000000999",
        "г Москва, ул Тверская, д 12",
        "LIQUIDATING",
    ),
];

/// Returns the banks.
pub fn banks() -> Vec<Record> {
    let record = |(name, bic, swift, inn, kpp, account, address, state): Bank| {
        let view = json!({
            "value": name,
            "unrestricted_value": name,
            "data": {
                "bic": bic, "swift": swift, "inn": inn, "kpp": kpp, "correspondent_account": account,
                "registration_number": null, "treasury_accounts": null,
                "name": { "payment": name, "full": null, "short": name },
                "payment_city": "г Москва",
                "opf": { "type": "BANK", "full": null, "short": null },
                "address": { "value": address, "unrestricted_value": address, "data": null },
                "state": { "status": state, "code": null, "actuality_date": null, "registration_date": null, "liquidation_date": null },
                "phone": null, "rkc": null,
            },
        });
        let short = swift.map(|swift| swift.trim_end_matches("XXX"));
        let numbers: Vec<&str> = [bic, inn].into_iter().chain(swift).chain(short).collect();
        Record::new(view, &numbers)
    };
    BANKS.into_iter().map(record).collect()
}

/// Short name, full name, taxpayer's number, code of the reason, register number, manager, address, state.
type Party = (
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const PARTIES: [Party; 5] = [
    (
        "ООО \"РОМАШКА\"",
        "ОБЩЕСТВО С ОГРАНИЧЕННОЙ ОТВЕТСТВЕННОСТЬЮ \"РОМАШКА\"",
        "7701234567",
        Some("770101001"),
        "1027700000017",
        "Петров Пётр Петрович",
        "г Москва, ул Тверская, д 7",
        "ACTIVE",
    ),
    (
        "АО \"РОМАШКА-ПЛЮС\"",
        "АКЦИОНЕРНОЕ ОБЩЕСТВО \"РОМАШКА-ПЛЮС\"",
        "7801234562",
        Some("780101001"),
        "1027800000028",
        "Сидорова Анна Ивановна",
        "г Санкт-Петербург, Невский пр-кт, д 28",
        "LIQUIDATED",
    ),
    (
        "ООО \"ВАСИЛЁК\"",
        "ОБЩЕСТВО С ОГРАНИЧЕННОЙ ОТВЕТСТВЕННОСТЬЮ \"ВАСИЛЁК\"",
        "3901234563",
        Some("390601001"),
        "1023900000039",
        "Кант Эмма Юрьевна",
        "Калининградская обл, г Калининград, пл Победы, д 1",
        "ACTIVE",
    ),
    (
        "ИП Иванов Иван Иванович",
        "Индивидуальный предприниматель Иванов Иван Иванович",
        "770123456789",
        None,
        "304770000000041",
        "",
        "г Москва",
        "ACTIVE",
    ),
    (
        "ПАО СБЕРБАНК",
        "ПУБЛИЧНОЕ АКЦИОНЕРНОЕ ОБЩЕСТВО \"СБЕРБАНК РОССИИ\"",
        "7707083893",
        Some("773601001"),
        "1027700132195",
        "Греф Герман Оскарович",
        "г Москва, ул Вавилова, д 19",
        "ACTIVE",
    ),
];

/// Returns the companies and individual entrepreneurs.
pub fn parties() -> Vec<Record> {
    let record = |(short, full, inn, kpp, ogrn, manager, address, state): Party| {
        let individual = kpp.is_none();
        let management =
            (!manager.is_empty()).then(|| json!({ "name": manager, "post": "ДИРЕКТОР", "disqualified": null }));
        let view = json!({
            "value": short,
            "unrestricted_value": short,
            "data": {
                "inn": inn, "kpp": kpp, "ogrn": ogrn, "ogrn_date": null, "hid": null,
                "type": if individual { "INDIVIDUAL" } else { "LEGAL" },
                "name": { "full_with_opf": full, "short_with_opf": short, "latin": null, "full": full, "short": null },
                "state": { "status": state, "code": null, "actuality_date": null, "registration_date": null, "liquidation_date": null },
                "management": management, "branch_type": if individual { Value::Null } else { json!("MAIN") },
                "address": { "value": address, "unrestricted_value": address, "data": null },
            },
        });
        Record::new(view, &[inn, ogrn])
    };
    PARTIES.into_iter().map(record).collect()
}
