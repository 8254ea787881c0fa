//! Delivery of an order.

use kontor_kernel::{
    DeliverySubtypeId, DeliverySubtypeParamId, DeliveryTypeId, Line, Money, PaymentTypeId, ShopId, Violations,
};
use kontor_payments::model::VatCode;

/// Pickup from a shop. A project chooses names and prices of its types; these ids have a fixed meaning.
const PICKUP: i64 = 1;
const DELIVERY: i64 = 2;
const PICKUP_POINT: i64 = 1;
const COURIER: i64 = 2;

/// Delivery type whose orders have a subtype.
pub const BY_DELIVERY: DeliveryTypeId = match DeliveryTypeId::new(DELIVERY) {
    Ok(id) => id,
    Err(_) => panic!("no identifier"),
};
const BY_COURIER: DeliverySubtypeId = match DeliverySubtypeId::new(COURIER) {
    Ok(id) => id,
    Err(_) => panic!("no identifier"),
};

/// Postal address: one line of 1 to 500 characters.
pub type Address = Line<500>;

/// Returns `true` if an order with this delivery requires an address.
pub(crate) fn needs_address(type_id: DeliveryTypeId, subtype_id: Option<DeliverySubtypeId>) -> bool {
    type_id == BY_DELIVERY && subtype_id == Some(BY_COURIER)
}

/// Delivery and payment type of a request, with unchecked ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRequest {
    /// Delivery type.
    pub type_id: DeliveryTypeId,
    /// Delivery subtype; required for the type delivery.
    pub subtype_id: Option<DeliverySubtypeId>,
    /// Pickup point; required for the subtype pickup point.
    pub subtype_param_id: Option<DeliverySubtypeParamId>,
    /// Shop; required for pickup.
    pub shop_id: Option<ShopId>,
    /// Address; required for a courier.
    pub address: Option<Address>,
    /// Payment type on receipt.
    pub payment_type_id: Option<PaymentTypeId>,
}

/// Records of the project under the ids of a [`DeliveryRequest`]; `None` for ids that do not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct References {
    /// Delivery type.
    pub delivery_type: Option<TypeReference>,
    /// Delivery subtype.
    pub subtype: Option<SubtypeReference>,
    /// Parameter of the subtype.
    pub subtype_param: Option<ParamReference>,
    /// Shop.
    pub shop: Option<ShopReference>,
    /// `Some(true)` if the payment type is paid online; `None` if it does not exist.
    pub payment_type: Option<bool>,
}

/// Fields of a delivery type that an order needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypeReference {
    /// Name.
    pub name: String,
    /// Price.
    pub price: Money,
    /// `true` if it can be chosen.
    pub is_active: bool,
}

/// Fields of a delivery subtype that an order needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubtypeReference {
    /// Type it belongs to.
    pub type_id: DeliveryTypeId,
    /// Price, added to that of the type.
    pub price: Money,
    /// `true` if it can be chosen.
    pub is_active: bool,
}

/// Fields of a delivery subtype parameter that an order needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamReference {
    /// Subtype it belongs to.
    pub subtype_id: DeliverySubtypeId,
    /// `true` if it can be chosen.
    pub is_active: bool,
    /// Address.
    pub address: Option<String>,
}

/// Fields of a shop that an order needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShopReference {
    /// `true` if it can be chosen.
    pub is_active: bool,
    /// Address.
    pub address: String,
}

/// Delivery price of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryCharge {
    /// Price; zero if the project does not charge delivery.
    pub price: Money,
    /// VAT on receipts; `None` if the project has no fiscal receipts.
    pub vat: Option<VatCode>,
}

/// Delivery that a cart is calculated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryChoice {
    /// Delivery type.
    pub type_id: DeliveryTypeId,
    /// Subtype, once it is chosen.
    pub subtype_id: Option<DeliverySubtypeId>,
}

/// Checked delivery: every part exists and fits the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Type.
    pub type_id: DeliveryTypeId,
    /// Subtype, for the type delivery.
    pub subtype_id: Option<DeliverySubtypeId>,
    /// Pickup point.
    pub subtype_param_id: Option<DeliverySubtypeParamId>,
    /// Shop, for pickup.
    pub shop_id: Option<ShopId>,
    /// Address of the handover: the customer's address, or the current address of the shop or pickup point.
    pub address: Option<String>,
}

impl References {
    fn check_type(&self, wrong: &mut Violations) {
        if !self.delivery_type.as_ref().is_some_and(|known| known.is_active) {
            wrong.add("delivery_type_id", "there is no such delivery type");
        }
    }

    fn check_subtype(&self, type_id: DeliveryTypeId, wrong: &mut Violations) {
        if !self.subtype.is_some_and(|subtype| subtype.is_active && subtype.type_id == type_id) {
            wrong.add("delivery_subtype_id", "there is no such delivery subtype");
        }
    }

    /// Checks the delivery that a cart is calculated for. The subtype may be missing; a subtype that the type
    /// does not use is dropped.
    pub fn check_choice(&self, choice: DeliveryChoice) -> Result<DeliveryChoice, Violations> {
        let mut wrong = Violations::default();
        self.check_type(&mut wrong);
        let subtype_id = choice.subtype_id.filter(|_| choice.type_id == BY_DELIVERY);
        if subtype_id.is_some() {
            self.check_subtype(choice.type_id, &mut wrong);
        }
        wrong.into_result().map(|()| DeliveryChoice { subtype_id, ..choice })
    }
}

impl DeliveryRequest {
    /// Creates a request for delivery by courier.
    pub fn by_courier(address: Address, payment_type_id: PaymentTypeId) -> Self {
        Self {
            type_id: BY_DELIVERY,
            subtype_id: Some(BY_COURIER),
            subtype_param_id: None,
            shop_id: None,
            address: Some(address),
            payment_type_id: Some(payment_type_id),
        }
    }

    /// Creates a request with only the parts that the delivery price depends on.
    pub fn of_choice(choice: DeliveryChoice) -> Self {
        Self {
            type_id: choice.type_id,
            subtype_id: choice.subtype_id,
            subtype_param_id: None,
            shop_id: None,
            address: None,
            payment_type_id: None,
        }
    }

    /// Checks the request against the records of the project. Parts that the chosen delivery does not use are
    /// dropped.
    pub fn check(&self, project: &References) -> Result<Delivery, Violations> {
        let mut wrong = Violations::default();
        project.check_type(&mut wrong);
        if self.payment_type_id.is_some() && project.payment_type.is_none() {
            wrong.add("payment_type_id", "there is no such payment type");
        }
        let mut chosen = Delivery {
            type_id: self.type_id,
            subtype_id: None,
            subtype_param_id: None,
            shop_id: None,
            address: self.address.as_ref().map(ToString::to_string),
        };
        match self.type_id.get() {
            PICKUP => self.check_shop(project, &mut chosen, &mut wrong),
            DELIVERY => self.check_subtype(project, &mut chosen, &mut wrong),
            _ => {}
        }
        wrong.into_result().map(|()| chosen)
    }

    fn check_shop(&self, project: &References, chosen: &mut Delivery, wrong: &mut Violations) {
        match (self.shop_id, &project.shop) {
            (None, _) => wrong.add("shop_id", "is required for pickup"),
            (Some(id), Some(shop)) if shop.is_active => {
                chosen.shop_id = Some(id);
                chosen.address = Some(shop.address.clone());
            }
            _ => wrong.add("shop_id", "there is no such shop"),
        }
    }

    fn check_subtype(&self, project: &References, chosen: &mut Delivery, wrong: &mut Violations) {
        let Some(id) = self.subtype_id else {
            wrong.add("delivery_subtype_id", "is required for delivery");
            return;
        };
        project.check_subtype(self.type_id, wrong);
        chosen.subtype_id = Some(id);
        match id.get() {
            PICKUP_POINT => self.check_point(id, project, chosen, wrong),
            _ if self.address.is_none() && needs_address(self.type_id, self.subtype_id) => {
                wrong.add("address", "is required for a courier");
            }
            _ => {}
        }
    }

    fn check_point(
        &self,
        subtype: DeliverySubtypeId,
        project: &References,
        chosen: &mut Delivery,
        wrong: &mut Violations,
    ) {
        match (self.subtype_param_id, &project.subtype_param) {
            (None, _) => wrong.add("delivery_subtype_param_id", "is required for a pickup point"),
            (Some(id), Some(point)) if point.is_active && point.subtype_id == subtype => {
                chosen.subtype_param_id = Some(id);
                chosen.address.clone_from(&point.address);
            }
            _ => wrong.add("delivery_subtype_param_id", "there is no such pickup point"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(type_id: i64) -> DeliveryRequest {
        DeliveryRequest {
            type_id: DeliveryTypeId::new(type_id).unwrap(),
            subtype_id: None,
            subtype_param_id: None,
            shop_id: None,
            address: None,
            payment_type_id: None,
        }
    }

    fn money(minor: i64) -> Money {
        Money::from_minor(minor).unwrap()
    }

    fn delivery_type(is_active: bool) -> TypeReference {
        TypeReference { name: "Delivery".to_owned(), price: money(200), is_active }
    }

    fn project(subtype_of: i64) -> References {
        let type_id = DeliveryTypeId::new(subtype_of).unwrap();
        References {
            delivery_type: Some(delivery_type(true)),
            subtype: Some(SubtypeReference { type_id, price: money(150), is_active: true }),
            ..References::default()
        }
    }

    fn wrong(request: &DeliveryRequest, project: &References) -> Vec<String> {
        request.check(project).unwrap_err().fields().keys().cloned().collect()
    }

    #[test]
    fn each_way_asks_for_its_own_part() {
        assert_eq!(wrong(&request(1), &project(2)), ["shop_id"]);
        assert_eq!(wrong(&request(2), &project(2)), ["delivery_subtype_id"]);
        let point = DeliveryRequest { subtype_id: DeliverySubtypeId::new(1).ok(), ..request(2) };
        assert_eq!(wrong(&point, &project(2)), ["delivery_subtype_param_id"]);
        let courier = DeliveryRequest { subtype_id: DeliverySubtypeId::new(2).ok(), ..request(2) };
        assert_eq!(wrong(&courier, &project(2)), ["address"]);
        assert_eq!(wrong(&courier, &project(7)), ["address", "delivery_subtype_id"]);
        let inactive = References { delivery_type: Some(delivery_type(false)), ..project(2) };
        let unknown = DeliveryRequest { payment_type_id: PaymentTypeId::new(9).ok(), ..courier };
        assert_eq!(wrong(&unknown, &inactive), ["address", "delivery_type_id", "payment_type_id"]);
    }

    #[test]
    fn the_place_of_handover_is_kept() {
        let pickup =
            DeliveryRequest { shop_id: ShopId::new(3).ok(), address: Address::parse("Home").ok(), ..request(1) };
        let shop = Some(ShopReference { is_active: true, address: "Market square 1".to_owned() });
        let chosen = pickup.check(&References { shop, ..project(2) }).unwrap();
        assert_eq!(chosen.address.as_deref(), Some("Market square 1"));
        let param =
            Some(ParamReference { subtype_id: DeliverySubtypeId::new(2).unwrap(), is_active: true, address: None });
        let point = DeliveryRequest {
            subtype_id: DeliverySubtypeId::new(1).ok(),
            subtype_param_id: DeliverySubtypeParamId::new(5).ok(),
            ..request(2)
        };
        let elsewhere = References { subtype_param: param, ..project(2) };
        assert_eq!(wrong(&point, &elsewhere), ["delivery_subtype_param_id"]);
    }

    #[test]
    fn inactive_and_unsuitable_options_are_not_chosen() {
        let pickup = DeliveryRequest { shop_id: ShopId::new(3).ok(), ..request(1) };
        let shop = |is_active| Some(ShopReference { is_active, address: "Market square 1".to_owned() });
        assert_eq!(wrong(&pickup, &References { shop: shop(false), ..project(2) }), ["shop_id"]);
        assert_eq!(wrong(&pickup, &project(2)), ["shop_id"]);
        let chosen = pickup.check(&References { shop: shop(true), ..project(2) }).unwrap();
        assert_eq!((chosen.shop_id, chosen.subtype_id), (ShopId::new(3).ok(), None));

        let point = DeliveryRequest {
            subtype_id: DeliverySubtypeId::new(1).ok(),
            subtype_param_id: DeliverySubtypeParamId::new(5).ok(),
            ..request(2)
        };
        let at = |of: i64, is_active| References {
            subtype_param: Some(ParamReference {
                subtype_id: DeliverySubtypeId::new(of).unwrap(),
                is_active,
                address: Some("Point 5".to_owned()),
            }),
            ..project(2)
        };
        let chosen = point.check(&at(1, true)).unwrap();
        assert_eq!((chosen.subtype_param_id, chosen.address.as_deref()), (point.subtype_param_id, Some("Point 5")));
        assert_eq!(chosen.subtype_id, point.subtype_id);
        assert_eq!(wrong(&point, &at(1, false)), ["delivery_subtype_param_id"]);
        assert_eq!(wrong(&point, &at(2, true)), ["delivery_subtype_param_id"]);
        let type_id = DeliveryTypeId::new(2).unwrap();
        let closed = References {
            subtype: Some(SubtypeReference { type_id, price: money(150), is_active: false }),
            ..at(1, true)
        };
        assert_eq!(wrong(&point, &closed), ["delivery_subtype_id"]);
    }

    #[test]
    fn a_courier_brings_it_to_the_address() {
        let address = Address::parse("Lenina 1").unwrap();
        let courier = DeliveryRequest::by_courier(address, PaymentTypeId::new(9).unwrap());
        let known = References { payment_type: Some(false), ..project(2) };
        let chosen = courier.check(&known).unwrap();
        assert_eq!((chosen.type_id.get(), chosen.subtype_id), (2, DeliverySubtypeId::new(2).ok()));
        assert_eq!(chosen.address.as_deref(), Some("Lenina 1"));
        assert_eq!(wrong(&courier, &project(2)), ["payment_type_id"]);
        assert_eq!(wrong(&courier, &References { delivery_type: None, ..known }), ["delivery_type_id"]);
        // Delivery types that a project created itself require nothing.
        assert!(request(7).check(&project(2)).is_ok());
    }

    #[test]
    fn a_choice_may_leave_the_subtype_open() {
        let choice = |type_id, subtype_id: Option<i64>| DeliveryChoice {
            type_id: DeliveryTypeId::new(type_id).unwrap(),
            subtype_id: subtype_id.map(|id| DeliverySubtypeId::new(id).unwrap()),
        };
        let wrong = |choice, project: &References| {
            project.check_choice(choice).unwrap_err().fields().keys().cloned().collect::<Vec<String>>()
        };
        assert_eq!(project(2).check_choice(choice(2, None)), Ok(choice(2, None)));
        assert_eq!(project(2).check_choice(choice(2, Some(2))), Ok(choice(2, Some(2))));
        // Pickup has no subtypes, so a subtype does not change its price.
        assert_eq!(project(2).check_choice(choice(1, Some(2))), Ok(choice(1, None)));
        assert_eq!(wrong(choice(2, Some(2)), &project(7)), ["delivery_subtype_id"]);
        let closed = References { delivery_type: Some(delivery_type(false)), subtype: None, ..project(2) };
        assert_eq!(wrong(choice(2, Some(2)), &closed), ["delivery_subtype_id", "delivery_type_id"]);
        let request = DeliveryRequest::of_choice(choice(2, Some(2)));
        assert_eq!((request.type_id, request.subtype_id), (choice(2, None).type_id, choice(2, Some(2)).subtype_id));
    }
}
