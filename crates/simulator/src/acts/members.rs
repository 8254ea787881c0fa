//! Customers subscribe and change their subscriptions; staff intervene.

use chrono::TimeDelta;
use kontor_kernel::Clock as _;
use kontor_kernel::SavedMethodId;
use kontor_kernel::testing::TestRng;
use kontor_payments::model::PaymentMethod;
use kontor_payments::ports::SavedMethodStore;
use kontor_subscriptions::model::PlanChoice;
use kontor_subscriptions::{Agreement, Purchase, ScheduleCommand, StaffCommand, TermsEdit};

use super::{Act, ActResult, Effect, Member, Scene};

async fn method(scene: &mut Scene, member: &Member) -> Option<SavedMethodId> {
    let methods = SavedMethodStore::list(&scene.services.database, member.scope).await.ok()?;
    let ids: Vec<SavedMethodId> = methods.into_iter().map(|method| method.id).collect();
    scene.rng.one_of(&ids)
}

/// Starts a subscription, on the acquirer's page or with a saved payment method.
pub fn subscribes(mut scene: Scene, member: Member) -> Act {
    Box::pin(async move {
        let saved = if scene.rng.percent(40) { method(&mut scene, &member).await } else { None };
        let plan = scene.rng.one_of(&scene.merchant.plans).unwrap();
        let purchase =
            Purchase { plans: vec![PlanChoice::Item(plan)], pays_by: PaymentMethod::BankCard, saved_method: saved };
        let agreement = Agreement { address: Some("10.0.0.7".to_owned()) };
        if saved.is_some() && scene.rng.percent(50) {
            let begun = scene.services.subscriptions.charge_at_once(member.scope, &purchase, &agreement).await;
            let ids = begun.as_ref().map(|view| vec![view.subscription.id]).unwrap_or_default();
            return ActResult::of("subscribes at once", begun, |view| view.subscription.status.to_string())
                .teaching(Effect::Subscribed(member.scope, ids));
        }
        let bought = scene.services.subscriptions.check_out(member.scope, &purchase, &agreement).await;
        let ids = bought
            .as_ref()
            .map(|checkout| checkout.payment.subscriptions.iter().map(|view| view.subscription.id).collect::<Vec<_>>());
        let ids = ids.unwrap_or_default();
        ActResult::of("subscribes", bought, |checkout| format!("order {}", checkout.payment.order))
            .teaching(Effect::Subscribed(member.scope, ids))
    })
}

/// Cancels, resumes, changes or retries a subscription.
pub fn changes_mind(mut scene: Scene, member: Member) -> Act {
    Box::pin(async move {
        let Some(id) = scene.rng.one_of(&member.subscriptions) else {
            return ActResult::nothing("changes their mind");
        };
        let (services, who, agreement) = (scene.services.clone(), member.scope, Agreement::default());
        let service = &services.subscriptions;
        let reported = |view: &kontor_subscriptions::model::SubscriptionView| view.subscription.status.to_string();
        match scene.rng.below(6) {
            0 => ActResult::of("cancels", service.cancel(who, id).await, reported),
            1 | 2 => ActResult::of("resumes", service.resume(who, id, &agreement).await, reported),
            3 => {
                let plan = scene.rng.one_of(&scene.merchant.plans).map(PlanChoice::Item);
                let saved_method = if scene.rng.percent(40) { method(&mut scene, &member).await } else { None };
                let edit = TermsEdit { plan, saved_method };
                ActResult::of("changes terms", service.change(who, id, &edit, Some(&agreement)).await, reported)
            }
            4 => {
                let begun = services.method_changes.begin(who, id, &agreement).await;
                ActResult::of("enters a method", begun, |change| change.id.to_string())
            }
            _ => {
                let page = kontor_kernel::PageRequest::new(1, 1, 10).unwrap();
                let last = service.payments(who, id, page).await.ok().and_then(|page| page.items.into_iter().next());
                let Some(last) = last else { return ActResult::nothing("retries") };
                ActResult::of("retries", service.retry(who, id, last.id).await, reported)
            }
        }
    })
}

/// Deletes a saved payment method. It runs alone, because it waits in real time for requests that are on their way.
pub fn deletes_method(mut scene: Scene, member: Member) -> Act {
    Box::pin(async move {
        let Some(id) = method(&mut scene, &member).await else { return ActResult::nothing("deletes a method") };
        let deleted = scene.services.subscriptions.delete_method(member.scope, id).await;
        ActResult::of("deletes a method", deleted, |()| id.to_string())
    })
}

fn timing(scene: &Scene, rng: &mut TestRng) -> ScheduleCommand {
    let days = i64::try_from(rng.below(60)).unwrap();
    match rng.below(3) {
        0 => ScheduleCommand::PauseUntil(scene.services.clock.now() + TimeDelta::days(days)),
        1 => ScheduleCommand::SkipNext,
        _ => ScheduleCommand::BillingDay(u8::try_from(rng.below(31)).unwrap() + 1),
    }
}

/// Changes a subscription as staff.
pub fn change_subscription_as_staff(mut scene: Scene, member: Member) -> Act {
    Box::pin(async move {
        let Some(id) = scene.rng.one_of(&member.subscriptions) else { return ActResult::nothing("staff step in") };
        let mut rng = scene.rng.split();
        let command = match rng.below(6) {
            0 => StaffCommand::Cancel,
            1 | 2 => StaffCommand::ChargeNow,
            3 => StaffCommand::Release,
            _ => StaffCommand::Retime(timing(&scene, &mut rng)),
        };
        let done = scene.services.desk.command(&scene.merchant.staff, id, command).await;
        ActResult::of("staff step in", done, |record| format!("{command:?}: {}", record.view.subscription.status))
    })
}
