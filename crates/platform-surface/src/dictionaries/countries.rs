//! Countries.

use actix_web::get;
use actix_web::web::Data;
use chrono::{DateTime, Utc};
use kontor_organization::DictionaryService;
use kontor_organization::model::Country;
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::SignedInStaff;
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::records::{Picture, picture};

#[derive(Serialize, ToSchema)]
struct StaffCountryRecord {
    id: i64,
    name: String,
    photo: Option<Picture>,
    created_at: DateTime<Utc>,
}

impl From<Country> for StaffCountryRecord {
    fn from(country: Country) -> Self {
        let Country { id, name, photo, created_at } = country;
        Self { id: id.get(), name: name.into(), photo: picture(photo), created_at }
    }
}

list!(StaffCountryList { countries: [StaffCountryRecord], countries_count });

/// List countries
///
/// Returns the countries of origin of goods.
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = StaffCountryList)))]
#[get("/api/countries")]
pub(super) async fn list_countries(staff: SignedInStaff, service: Data<DictionaryService>) -> Answer<StaffCountryList> {
    answer(service.countries(&staff).await?)
}
