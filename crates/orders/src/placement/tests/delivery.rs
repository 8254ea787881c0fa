//! Delivery prices.

use kontor_kernel::{DeliverySubtypeId, Visitor};

use super::*;
use crate::model::{DeliveryCharge, DeliveryChoice, SubtypeReference};

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

/// The same shop, with this price for pickup.
fn with_delivery(charges_delivery: bool, price: i64, snapshot: CartSnapshot) -> CartSnapshot {
    let delivery_type = TypeReference { name: "Pickup".to_owned(), price: money(price), is_active: true };
    let references = References { delivery_type: Some(delivery_type), ..snapshot.references };
    CartSnapshot { references, charges_delivery, ..snapshot }
}

#[test]
fn delivery_is_paid_where_the_project_charges_it() {
    let shop = || with_receipts(vec![place(1, 1, 500, 9)]);
    let free = decide(&with_delivery(false, 150, shop()), &online(2), &context()).unwrap();
    assert_eq!((free.delivery_charge, free.payment.unwrap().amount), (DeliveryCharge::default(), money(1_000)));

    let order = decide(&with_delivery(true, 150, shop()), &online(2), &context()).unwrap();
    let vat = VatCode::new(7).ok();
    assert_eq!(order.delivery_charge, DeliveryCharge { price: money(150), vat });
    assert_eq!((order.final_price, order.original_price), (money(1_000), money(1_000)));
    let payment = order.payment.unwrap();
    let receipt = payment.receipt.unwrap();
    assert_eq!((payment.amount, receipt.total()), (money(1_150), money(1_150)));
    let reported: Vec<_> =
        receipt.lines().iter().map(|line| (line.description(), line.price().minor(), line.vat())).collect();
    assert_eq!(reported[1], ("Pickup", 150, vat.unwrap()));
    // Delivery of free items is still paid.
    let gift = decide(&with_delivery(true, 150, with_receipts(vec![place(1, 1, 0, 9)])), &online(1), &context());
    assert_eq!(gift.unwrap().payment.unwrap().amount, money(150));
}

#[tokio::test]
async fn a_cart_is_calculated_with_the_way_of_delivery_that_is_named() {
    let choice = |type_id, subtype_id: Option<i64>| DeliveryChoice {
        type_id: DeliveryTypeId::new(type_id).unwrap(),
        subtype_id: subtype_id.map(|id| DeliverySubtypeId::new(id).unwrap()),
    };
    let calculate = async |charges, quantity, choice: Option<DeliveryChoice>| {
        let (mut carts, asked) = (MockCartReader::new(), choice.map(DeliveryRequest::of_choice));
        let subtype = SubtypeReference { type_id: DeliveryTypeId::new(2).unwrap(), price: money(250), is_active: true };
        carts.expect_snapshot().withf(move |query| query.delivery == asked).returning(move |_| {
            let shop = with_delivery(charges, 150, snapshot(vec![place(1, 1, 500, 9)]));
            let references = References { subtype: Some(subtype), ..shop.references };
            Ok(CartSnapshot { references, ..shop })
        });
        let visitor = Visitor { app: customer().app, counterparty_id: None };
        let service = reading(carts, MockOrderStore::new(), MockOrderReader::new());
        service.precalculate(visitor, &command(quantity).cart, None, choice).await
    };
    let sums = |view: CartView| (view.delivery_price.minor(), view.amount_due().minor());
    assert_eq!(sums(calculate(true, 1, None).await.unwrap()), (0, 500));
    assert_eq!(sums(calculate(true, 1, Some(choice(1, None))).await.unwrap()), (150, 650));
    assert_eq!(sums(calculate(true, 1, Some(choice(2, None))).await.unwrap()), (150, 650));
    assert_eq!(sums(calculate(true, 1, Some(choice(2, Some(2)))).await.unwrap()), (400, 900));
    assert_eq!(sums(calculate(false, 1, Some(choice(2, Some(2)))).await.unwrap()), (0, 500));
}

#[tokio::test]
async fn an_unknown_delivery_option_is_named_with_the_cart() {
    let mut carts = MockCartReader::new();
    carts.expect_snapshot().returning(|_| Ok(CartSnapshot { references: References::default(), ..snapshot(vec![]) }));
    let choice = DeliveryChoice { type_id: DeliveryTypeId::new(3).unwrap(), subtype_id: None };
    let visitor = Visitor { app: customer().app, counterparty_id: None };
    let service = reading(carts, MockOrderStore::new(), MockOrderReader::new());
    match service.precalculate(visitor, &command(1).cart, None, Some(choice)).await {
        Err(CartError::Missing(wrong)) => {
            let fields: Vec<_> = wrong.fields().keys().collect();
            assert_eq!(fields, ["delivery_type_id", "products.0.id"]);
        }
        other => panic!("{other:?}"),
    }
}
