use std::sync::{Arc, Mutex};

use kontor_kernel::history::Author;
use kontor_kernel::{Edit, Name, PageRequest, Phone, ProjectId, ProjectScoped, Stamp};
use kontor_payments::model::{ChargeFailure, PaymentMethod};

use super::{
    Fixture, available, command, decided, failed, money, moved, noon, on_receipt, order, placed, placed_online, race,
    recorded, success, uses, whole,
};
use crate::change::{ContactPerson, OrderUpdate, Orderer, PlacedOrder};
use crate::error::OrderError;
use crate::model::{Order, OrderEvent, OrderStatus};
use crate::placement::{ContactProblem, ContactTerms, OrderCommand};
use crate::ports::{Decision, OrderReader as _, OrderStore as _, PlaceRefused};

/// Under concurrent calls, orders of several items reserve all of their lines or none, in any sequence of the lines.
/// Cancellation releases every line.
pub async fn an_order_reserves_all_of_its_lines<F: Fixture>(fixture: &F) {
    let (store, anna, boris) = (fixture.store(), fixture.customer().await, fixture.customer().await);
    let (vase, cup) = (fixture.goods(15, money(1_000)).await, fixture.goods(9, money(500)).await);
    let ahead = on_receipt(fixture, anna, &[(vase, 2), (cup, 1)]).await;
    let back = on_receipt(fixture, boris, &[(cup, 1), (vase, 2)]).await;
    let orders = (0..20).map(|number| if number % 2 == 0 { ahead.clone() } else { back.clone() }).collect();
    let (stored, refused) = race(fixture, orders).await;
    assert_eq!(stored, 7, "15 vases are enough for seven orders of two");
    assert!(refused.iter().all(|refused| matches!(refused, PlaceRefused::OutOfStock { .. })), "{refused:?}");
    assert_eq!((available(fixture, anna, vase).await, available(fixture, anna, cup).await), (1, 2));
    for customer in [anna, boris] {
        for placed in store.of_customer(customer, whole()).await.unwrap().items {
            moved(fixture, customer, placed.id, OrderStatus::Canceled).await.unwrap();
        }
    }
    assert_eq!((available(fixture, anna, vase).await, available(fixture, anna, cup).await), (15, 9));
}

/// A failed payment returns the use of the promo code, and a withdrawn one keeps it.
pub async fn a_failed_payment_returns_its_promo_use<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(9, money(1_000)).await;
    let code = fixture.promo(None, Some(1)).await;
    let command = OrderCommand {
        promo_code: Some(code.clone()),
        payment_method: Some(PaymentMethod::BankCard),
        ..command(fixture, &[(vase, 1)])
    };
    let first = placed(fixture, decided(fixture, anna, &command).await).await.charge.unwrap();
    assert_eq!(uses(fixture, anna, vase, &code).await, (1, 1));
    assert_eq!(recorded(fixture, &first, || failed(ChargeFailure::Expired)).await, 1);
    assert_eq!(uses(fixture, anna, vase, &code).await, (0, 0));
    let late = decided(fixture, anna, &command).await;
    let second = placed(fixture, decided(fixture, anna, &command).await).await.charge.unwrap();
    assert_eq!(recorded(fixture, &second, || failed(ChargeFailure::Withdrawn)).await, 1);
    assert_eq!(uses(fixture, anna, vase, &code).await, (1, 1));
    let refused = store.place(late).await;
    assert!(matches!(refused, Err(PlaceRefused::PromoExhausted)), "{refused:?}");
}

/// Under concurrent calls, the unconfirmed orders of one phone stay within their bounds and belong to one customer. Any
/// change confirms an order.
pub async fn unconfirmed_orders_of_a_phone_are_bounded<F: Fixture>(fixture: &F) {
    let anna = fixture.customer().await;
    let vase = fixture.goods(50, money(1_000)).await;
    let terms = ContactTerms { max_pieces: 7, ..ContactTerms::default() };
    let new = on_receipt(fixture, anna, &[(vase, 2)]).await;
    let from = |phone: &str| {
        let (name, phone) = (|text: &str| Name::parse(text).unwrap(), Phone::parse(phone).unwrap());
        let (first_name, last_name) = (name("Vera"), name("Orlova"));
        let person = ContactPerson { first_name, last_name, middle_name: None, phone: phone.clone() };
        PlacedOrder {
            orderer: Orderer::Contact(person),
            author: Author::System,
            phone: Some(phone),
            contact: Some(terms),
            ..new.clone()
        }
    };
    let first = placed(fixture, from("79005550001")).await.order_id;
    let first = order(fixture, anna, first).await;
    assert_eq!(first.reserved_until, Some(terms.reserved_until(noon())));
    assert_ne!(first.customer.id, anna.counterparty_id, "the form proves no identity");
    let (stored, refused) = race(fixture, vec![from("79005550001"); 8]).await;
    assert_eq!(stored, 2, "three orders of two units are within seven");
    let is_bound = |refused: &PlaceRefused| matches!(refused, PlaceRefused::Contact(ContactProblem::Pieces { max: 7 }));
    assert!(refused.iter().all(is_bound), "{refused:?}");
    placed(fixture, from("79005550002")).await;
    assert_eq!(available(fixture, anna, vase).await, 42);
    moved(fixture, anna, first.id, OrderStatus::InProcessing).await.unwrap();
    let confirmed = order(fixture, anna, first.id).await;
    assert_eq!((confirmed.status, confirmed.reserved_until), (OrderStatus::InProcessing, None));
    let next = placed(fixture, from("79005550001")).await.order_id;
    assert_eq!(order(fixture, anna, next).await.customer.id, first.customer.id, "one phone, one customer");
}

/// A decision gets the current state of its order, the one that readers return.
pub async fn a_decision_gets_the_current_order<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let (id, stored) = placed_online(fixture, anna, &[(vase, 2)]).await;
    for is_paid in [false, true] {
        if is_paid {
            assert_eq!(recorded(fixture, &stored, success).await, 1);
        }
        let seen: Arc<Mutex<Option<Order>>> = Arc::default();
        let (project, kept) = (anna.app.project_id, Arc::clone(&seen));
        let decide: Decision = Box::new(move |found: ProjectScoped<Order>| {
            *kept.lock().unwrap() = found.within(project);
            Err(OrderError::NotFound)
        });
        let refused = store.change(id, decide).await;
        assert!(matches!(refused, Err(OrderError::NotFound)), "{refused:?}");
        let (current, seen) = (order(fixture, anna, id).await, seen.lock().unwrap().take());
        assert_eq!(seen, Some(current));
    }
}

/// Each commit about an order adds an entry to its history. A refused change adds none.
pub async fn changes_are_in_the_history<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let (id, stored) = placed_online(fixture, anna, &[(vase, 2)]).await;
    assert_eq!(recorded(fixture, &stored, success).await, 1);
    moved(fixture, anna, id, OrderStatus::Issued).await.unwrap();
    assert!(moved(fixture, anna, id, OrderStatus::Canceled).await.is_err());
    let entries = store.history(id, PageRequest::new(1, 10, 10).unwrap()).await.unwrap();
    let events: Vec<_> = entries.items.iter().map(|entry| (entry.event, entry.status)).collect();
    let expected = [
        (OrderEvent::StatusChanged, OrderStatus::Issued),
        (OrderEvent::Paid, OrderStatus::Paid),
        (OrderEvent::Created, OrderStatus::WaitingForPayment),
    ];
    assert_eq!((events, entries.total), (expected.to_vec(), 3));
}

/// An employee of the project can be in charge of an order, from the start and later.
pub async fn an_employee_is_in_charge<F: Fixture>(fixture: &F) {
    let (store, anna, employee) = (fixture.store(), fixture.customer().await, fixture.employee().await);
    let (vase, project) = (fixture.goods(5, money(1_000)).await, anna.app.project_id);
    let new = on_receipt(fixture, anna, &[(vase, 1)]).await;
    let id = placed(fixture, PlacedOrder { manager_id: Some(employee), ..new }).await.order_id;
    for manager in [Some(employee), None, Some(employee)] {
        let stamp = Stamp::of_system(project, noon());
        let decide: Decision =
            Box::new(move |_| Ok(OrderUpdate { manager: Edit::Set(manager), ..OrderUpdate::of(stamp) }));
        store.change(id, decide).await.unwrap();
        assert_eq!(order(fixture, anna, id).await.manager.map(|manager| manager.id), manager);
    }
    assert!(store.has_employee(project, employee).await.unwrap());
    let elsewhere = ProjectId::new(project.get() + 1).unwrap();
    assert!(!store.has_employee(elsewhere, employee).await.unwrap());
}
