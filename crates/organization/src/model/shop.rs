use chrono::{DateTime, Utc};
use kontor_kernel::{Name, ShopId};

/// A place where customers pick up their orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shop {
    /// Its number.
    pub id: ShopId,
    /// Its name.
    pub name: Name,
    /// Where it is.
    pub address: String,
    /// Its phone.
    pub phone: Option<String>,
    /// A picture.
    pub photo: Option<String>,
    /// Degrees north, decimal.
    pub latitude: Option<String>,
    /// Degrees east, decimal.
    pub longitude: Option<String>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}
