use chrono::{DateTime, Utc};
use kontor_kernel::{Name, ShopId};

/// Shop where customers pick up orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shop {
    /// Identifier.
    pub id: ShopId,
    /// Name.
    pub name: Name,
    /// Address.
    pub address: String,
    /// Phone.
    pub phone: Option<String>,
    /// Picture.
    pub photo: Option<String>,
    /// Latitude in decimal degrees.
    pub latitude: Option<String>,
    /// Longitude in decimal degrees.
    pub longitude: Option<String>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}
