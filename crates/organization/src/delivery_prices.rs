use kontor_kernel::history::FieldChange;
use kontor_kernel::{DeliverySubtypeId, DeliveryTypeId, Money, Name, RecordError, Refusal};

/// Price of a delivery type or of one of its subtypes. An order pays the price of its type and of its subtype.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryPrice {
    /// Delivery type.
    pub delivery_type: (DeliveryTypeId, Name),
    /// Subtype; `None` for the price of the type itself.
    pub subtype: Option<(DeliverySubtypeId, Name)>,
    /// Price.
    pub price: Money,
}

/// New price of a delivery type or of one of its subtypes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewDeliveryPrice {
    /// Delivery type.
    pub type_id: DeliveryTypeId,
    /// Subtype; `None` for the price of the type itself.
    pub subtype_id: Option<DeliverySubtypeId>,
    /// Price.
    pub price: Money,
}

/// Reference of a new price that the project does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownDelivery {
    /// The price at this index names an unknown type.
    Type(usize),
    /// The price at this index names an unknown subtype of its type.
    Subtype(usize),
}

/// Refusals specific to delivery prices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryPriceRefusal {
    /// The project lacks these delivery types or subtypes.
    #[error("there are no such delivery types or subtypes: {0:?}")]
    Unknown(Vec<UnknownDelivery>),
}

impl Refusal for DeliveryPriceRefusal {}

/// Error of a use case of delivery prices.
pub type DeliveryPriceError = RecordError<DeliveryPriceRefusal>;

impl DeliveryPrice {
    fn is_of(&self, new: &NewDeliveryPrice) -> bool {
        self.delivery_type.0 == new.type_id && self.subtype.as_ref().map(|(id, _)| *id) == new.subtype_id
    }

    /// Returns the stored prices that change, with their new values. If several are given for the same delivery, the
    /// last applies.
    pub fn changed_by(
        stored: &[Self],
        new: &[NewDeliveryPrice],
    ) -> Result<Vec<(NewDeliveryPrice, FieldChange)>, DeliveryPriceRefusal> {
        let unknown = |(index, new): (usize, &NewDeliveryPrice)| {
            if stored.iter().any(|price| price.is_of(new)) {
                return None;
            }
            let is_known = stored.iter().any(|price| price.delivery_type.0 == new.type_id);
            Some(if is_known { UnknownDelivery::Subtype(index) } else { UnknownDelivery::Type(index) })
        };
        let unknown: Vec<_> = new.iter().enumerate().filter_map(unknown).collect();
        if !unknown.is_empty() {
            return Err(DeliveryPriceRefusal::Unknown(unknown));
        }
        let change = |price: &Self| {
            let new = new.iter().rev().find(|new| price.is_of(new)).filter(|new| new.price != price.price)?;
            let subtype = new.subtype_id.map(|id| format!(".{id}")).unwrap_or_default();
            let field = format!("delivery_prices.{}{subtype}", new.type_id);
            Some((*new, FieldChange { field, old: Some(price.price.to_string()), new: Some(new.price.to_string()) }))
        };
        Ok(stored.iter().filter_map(change).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(kind: i64, subtype: Option<i64>, minor: i64) -> DeliveryPrice {
        let name = Name::parse("Courier").unwrap();
        DeliveryPrice {
            delivery_type: (DeliveryTypeId::new(kind).unwrap(), name.clone()),
            subtype: subtype.map(|id| (DeliverySubtypeId::new(id).unwrap(), name)),
            price: Money::from_minor(minor).unwrap(),
        }
    }

    fn new(kind: i64, subtype: Option<i64>, minor: i64) -> NewDeliveryPrice {
        NewDeliveryPrice {
            type_id: DeliveryTypeId::new(kind).unwrap(),
            subtype_id: subtype.map(|id| DeliverySubtypeId::new(id).unwrap()),
            price: Money::from_minor(minor).unwrap(),
        }
    }

    #[test]
    fn the_last_price_of_a_delivery_applies_and_an_equal_one_changes_nothing() {
        let prices = [stored(1, None, 0), stored(2, None, 100), stored(2, Some(1), 200)];
        let asked = [new(2, Some(1), 5), new(2, None, 100), new(2, Some(1), 300)];
        let changed = DeliveryPrice::changed_by(&prices, &asked).unwrap();
        let field = FieldChange {
            field: "delivery_prices.2.1".to_owned(),
            old: Some("2.00".to_owned()),
            new: Some("3.00".to_owned()),
        };
        assert_eq!(changed, [(new(2, Some(1), 300), field)]);
        assert_eq!(DeliveryPrice::changed_by(&prices, &[]), Ok(Vec::new()));
    }

    #[test]
    fn everything_unknown_is_named() {
        let prices = [stored(1, None, 0), stored(2, None, 100), stored(2, Some(1), 200)];
        let asked = [new(3, None, 1), new(1, None, 1), new(1, Some(1), 1), new(9, Some(1), 1)];
        let unknown = vec![UnknownDelivery::Type(0), UnknownDelivery::Subtype(2), UnknownDelivery::Type(3)];
        assert_eq!(DeliveryPrice::changed_by(&prices, &asked), Err(DeliveryPriceRefusal::Unknown(unknown)));
    }
}
