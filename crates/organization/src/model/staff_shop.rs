use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    BranchId, Line, Name, Phone, PhotoUrl, Record, Resource, ShopId, Zone, draft_and_change, wraps_text,
};

use super::OpeningTimes;
use crate::ShopRefusal;

macro_rules! coordinates {
    ($($(#[$doc:meta])+ $name:ident = $most:literal, $error:ident, $message:literal;)+) => {$(
        #[doc = concat!("Error of a text that is not a valid `", stringify!($name), "`.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
        #[error($message)]
        pub struct $error;

        $(#[$doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Parses decimal degrees of at most 12 characters.
            pub fn parse(text: &str) -> Result<Self, $error> {
                let text = text.trim();
                let plain = text.len() <= 12 && text.bytes().all(|sign| sign.is_ascii_digit() || matches!(sign, b'.' | b'-'));
                let degrees: Option<f64> = text.parse().ok().filter(|_| plain);
                match degrees {
                    Some(degrees) if degrees.abs() <= $most => Ok(Self(text.to_owned())),
                    _ => Err($error),
                }
            }
        }

        wraps_text!($name);
    )+};
}

coordinates! {
    /// Latitude in degrees.
    Latitude = 90.0, InvalidLatitude, "must be degrees from -90 to 90";
    /// Longitude in degrees.
    Longitude = 180.0, InvalidLongitude, "must be degrees from -180 to 180";
}

/// Shop for staff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffShop {
    /// Identifier of the shop.
    pub id: ShopId,
    /// Fields entered by staff.
    pub details: ShopDetails,
    /// Name of its branch.
    pub branch_name: Name,
    /// Opening times.
    pub times: OpeningTimes,
    /// Version; grows with every change.
    pub version: u64,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

draft_and_change! {
    /// Fields of a shop that staff enter.
    ShopDetails,
    /// Changes of a shop.
    ShopChange {
        /// Branch that runs it.
        branch_id: BranchId,
        /// Name.
        name: Name,
        /// Address.
        address: Line<500>,
        /// Phone.
        phone: Option<Phone>,
        /// Picture.
        photo: Option<PhotoUrl>,
        /// Latitude.
        latitude: Option<Latitude>,
        /// Longitude.
        longitude: Option<Longitude>,
        /// Time zone; `None` for that of the project.
        zone: Option<Zone>,
        /// `true` if customers see it.
        is_active: bool,
    }
}

impl Audited for StaffShop {
    const RESOURCE: Resource = Resource::Shops;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        let (details, times) = (&self.details, &self.times);
        let list = |lines: Vec<String>| (!lines.is_empty()).then(|| lines.join("; "));
        let hours = times.hours.iter().map(|hours| format!("{} {}", hours.weekday.number(), hours.interval));
        let holidays = times.holidays.iter().map(|holiday| {
            let yearly = if holiday.is_yearly { ", every year" } else { "" };
            let name = holiday.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
            format!("{}{name}{yearly}", holiday.day)
        });
        let exceptions = times.exceptions.iter().map(|other| {
            let hours = other.terms.interval.map_or_else(|| "closed".to_owned(), |interval| interval.to_string());
            let note = other.terms.note.as_ref().map(|note| format!(", {note}")).unwrap_or_default();
            format!("{} {hours}{note}", other.terms.day)
        });
        vec![
            ("name", Some(details.name.to_string())),
            ("address", Some(details.address.to_string())),
            ("phone", details.phone.as_ref().map(ToString::to_string)),
            ("photo", details.photo.as_ref().map(ToString::to_string)),
            ("latitude", details.latitude.as_ref().map(ToString::to_string)),
            ("longitude", details.longitude.as_ref().map(ToString::to_string)),
            ("branch_id", Some(details.branch_id.to_string())),
            ("time_zone", details.zone.map(|zone| zone.to_string())),
            ("is_active", Some(details.is_active.to_string())),
            ("hours", list(hours.collect())),
            ("holidays", list(holidays.collect())),
            ("exceptions", list(exceptions.collect())),
        ]
    }
}

impl Record for StaffShop {
    type Id = ShopId;
    type Draft = ShopDetails;
    type Change = ShopChange;
    type Refusal = ShopRefusal;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_on_earth() {
        for good in ["55.7558", "-90", " 90.0 ", "0"] {
            assert!(Latitude::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "90.1", "-91", "nan", "inf", "1e1", "55,7", "٥", "55.7558000000001"] {
            assert_eq!(Latitude::parse(bad), Err(InvalidLatitude), "{bad}");
        }
        assert!(Longitude::parse("180").is_ok() && Longitude::parse("180.5").is_err());
    }
}
