//! Requests for records of another project. None is found, and nothing changes.

use std::fmt::Debug;
use std::sync::Arc;

use kontor_auth::CustomerAuthentication;
use kontor_catalog::model::StockChange;
use kontor_kernel::listing::Sort;
use kontor_kernel::{Line, Listing, PageRequest};
use kontor_orders::refund::{RefundCommand, RefundScope};
use kontor_subscriptions::StaffCommand;

use super::{Act, ActResult, Effect, Member, Scene};
use crate::invariants::TENANT_ISOLATION;
use crate::merchant::Merchant;

/// Staff and a customer of one merchant request records of another merchant.
pub fn reach(mut scene: Scene, theirs: Arc<Merchant>, victim: Option<Member>, own: Option<Member>) -> Act {
    Box::pin(async move {
        let services = scene.services.clone();
        let (us, what) = (scene.merchant.staff.clone(), "reaches across");
        let mut seen: Vec<String> = Vec::new();
        let mut note = |asked: &str, answer: Result<String, String>| {
            if let Ok(found) = answer {
                seen.push(format!("{asked}: {found}"));
            }
        };
        scene.merchant = theirs.clone();
        if let Some(order) = scene.some_order().await {
            note("read", text(services.orders.read(&us, order.id).await));
            note("cancel", text(services.orders.cancel(&us, order.id).await));
            let command = RefundCommand {
                scope: RefundScope::Everything,
                reason: Line::parse("mine").unwrap(),
                restock: true,
                ends_period: false,
            };
            note("refund", text(services.orders.refund(&us, order.id, command).await));
            let page = PageRequest::new(1, 10, 100).unwrap();
            note("history", text(services.orders.history(&us, order.id, page).await.map(|_| ())));
            if let Some(own) = &own {
                note("own order", text(services.orders.one_of_customer(own.scope, order.id).await));
            }
        }
        if let Some(stock) = scene.rng.one_of(&theirs.stock) {
            note("stock", text(services.inventories.read(&us, stock).await));
            note("set stock", text(services.inventories.set_stock(&us, stock, StockChange::default()).await));
        }
        if let Some(victim) = &victim
            && let Some(id) = scene.rng.one_of(&victim.subscriptions)
        {
            note("subscription", text(services.desk.read(&us, id).await));
            note("release", text(services.desk.command(&us, id, StaffCommand::Release).await));
            if let Some(own) = &own {
                note("cancel subscription", text(services.subscriptions.cancel(own.scope, id).await));
            }
        }
        if let Some(own) = &own {
            let elsewhere = services.guard.authenticate(theirs.app, &own.bearer).await;
            if let Ok(CustomerAuthentication::SignedIn(scope)) = elsewhere {
                note("token", Ok(format!("{scope:?}")));
            }
        }
        let page = PageRequest::new(1, 20, 100).unwrap();
        let listed = services.orders.list(&us, Listing::unfiltered(Sort::descending("id"), page)).await;
        let foreign = |order: &kontor_orders::model::Order| {
            order.application.as_ref().is_some_and(|application| application.id == theirs.app.application_id)
        };
        if listed.is_ok_and(|page| page.items.iter().any(foreign)) {
            note("list", Ok("a foreign order".to_owned()));
        }
        let effect = if seen.is_empty() { Effect::Nothing } else { Effect::Broken(TENANT_ISOLATION, seen.join("; ")) };
        ActResult { what, outcome: format!("done {} found", seen.len()), effect }
    })
}

fn text<T: Debug, E: Debug>(answer: Result<T, E>) -> Result<String, String> {
    match answer {
        Ok(found) => Ok(format!("{found:?}").chars().take(120).collect()),
        Err(error) => Err(format!("{error:?}")),
    }
}
