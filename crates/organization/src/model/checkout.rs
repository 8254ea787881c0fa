use kontor_kernel::{DeliverySubtypeId, DeliverySubtypeParamId, DeliveryTypeId, Money, Name, PaymentTypeId};

/// A way to hand over an order: `1` pickup from a shop, `2` delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryType {
    /// Its number, the same in every project.
    pub id: DeliveryTypeId,
    /// Its name.
    pub name: Name,
    /// Its price. Orders include it where the project charges delivery.
    pub price: Money,
    /// Whether orders may choose it.
    pub is_active: bool,
}

/// A kind of delivery: `1` to a pickup point, `2` by courier to an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverySubtype {
    /// Its number, the same in every project.
    pub id: DeliverySubtypeId,
    /// Its name.
    pub name: Name,
    /// What it costs.
    pub price: Money,
    /// Whether orders may choose it.
    pub is_active: bool,
}

/// A choice inside a subtype, such as a pickup point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverySubtypeParam {
    /// Its number.
    pub id: DeliverySubtypeParamId,
    /// Its name.
    pub name: Name,
    /// Where it is.
    pub address: Option<String>,
    /// Whether orders may choose it.
    pub is_active: bool,
}

/// A way to pay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentType {
    /// Its number.
    pub id: PaymentTypeId,
    /// Its name.
    pub name: Name,
    /// What the customer should know.
    pub description: Option<String>,
    /// A picture.
    pub photo: Option<String>,
    /// `true` if it is paid on the acquirer's page. An order with it names a payment method.
    pub is_online: bool,
}

/// A payment type of a project, as one of its applications sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentChoice {
    /// The payment type.
    pub payment_type: PaymentType,
    /// Whether the application takes it.
    pub is_taken: bool,
}
