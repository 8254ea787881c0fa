//! Request bodies for shops.

use deserr::Deserr;
use kontor_organization::model::{ShopChange, ShopDetails};
use utoipa::ToSchema;

use kontor_web::wire::{self, InputErrors, change_body};

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewShop {
    name: wire::Name,
    address: wire::Line500,
    branch_id: wire::BranchId,
    #[deserr(default)]
    phone: Option<wire::Phone>,
    /// URL of a picture.
    #[deserr(default)]
    photo: Option<wire::PhotoUrl>,
    /// Degrees north.
    #[deserr(default)]
    latitude: Option<wire::Latitude>,
    /// Degrees east.
    #[deserr(default)]
    longitude: Option<wire::Longitude>,
    /// IANA name of the time zone. By default, the time zone of the project.
    #[deserr(default)]
    time_zone: Option<wire::ZoneName>,
    /// `true` if customers can see the shop. `true` by default.
    #[deserr(default)]
    is_active: Option<wire::Flag>,
}

impl From<NewShop> for ShopDetails {
    fn from(new: NewShop) -> Self {
        Self {
            branch_id: new.branch_id.0,
            name: new.name.0,
            address: new.address.0,
            phone: new.phone.map(|phone| phone.0),
            photo: new.photo.map(|url| url.0),
            latitude: new.latitude.map(|degrees| degrees.0),
            longitude: new.longitude.map(|degrees| degrees.0),
            zone: new.time_zone.map(|zone| zone.0),
            is_active: new.is_active.is_none_or(|flag| flag.0),
        }
    }
}

change_body! {
    pub(super) ChangedShop {
        name: wire::Name,
        address: wire::Line500,
        branch_id: wire::BranchId,
        phone: wire::Phone | null,
        photo: wire::PhotoUrl | null,
        latitude: wire::Latitude | null,
        longitude: wire::Longitude | null,
        /// `null` sets the time zone of the project.
        time_zone: wire::ZoneName | null,
        is_active: wire::Flag,
    }
}

impl From<ChangedShop> for ShopChange {
    fn from(changed: ChangedShop) -> Self {
        Self {
            branch_id: changed.branch_id.into(),
            name: changed.name.into(),
            address: changed.address.into(),
            phone: changed.phone.into(),
            photo: changed.photo.into(),
            latitude: changed.latitude.into(),
            longitude: changed.longitude.into(),
            zone: changed.time_zone.into(),
            is_active: changed.is_active.into(),
        }
    }
}
