use kontor_kernel::{DeliverySubtypeId, DeliverySubtypeParamId, DeliveryTypeId, Money, Name, PaymentTypeId};

/// Delivery type: `1` pickup from a shop, `2` delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryType {
    /// Identifier, the same in every project.
    pub id: DeliveryTypeId,
    /// Name.
    pub name: Name,
    /// Price. Orders include it if the project charges delivery.
    pub price: Money,
    /// `true` if orders may choose it.
    pub is_active: bool,
}

/// Delivery subtype: `1` to a pickup point, `2` by courier to an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverySubtype {
    /// Identifier, the same in every project.
    pub id: DeliverySubtypeId,
    /// Name.
    pub name: Name,
    /// Price.
    pub price: Money,
    /// `true` if orders may choose it.
    pub is_active: bool,
}

/// Parameter of a subtype, such as a pickup point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverySubtypeParam {
    /// Identifier.
    pub id: DeliverySubtypeParamId,
    /// Name.
    pub name: Name,
    /// Address.
    pub address: Option<String>,
    /// `true` if orders may choose it.
    pub is_active: bool,
}

/// Payment type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentType {
    /// Identifier.
    pub id: PaymentTypeId,
    /// Name.
    pub name: Name,
    /// Description for the customer.
    pub description: Option<String>,
    /// Picture.
    pub photo: Option<String>,
    /// `true` if it is paid on the acquirer's page. An order with it names a payment method.
    pub is_online: bool,
}

/// Payment type of a project, with its state in an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentChoice {
    /// Payment type.
    pub payment_type: PaymentType,
    /// `true` if the application accepts it.
    pub is_taken: bool,
}
