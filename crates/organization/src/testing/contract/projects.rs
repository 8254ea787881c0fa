use futures_util::future::join_all;
use kontor_kernel::{
    AppScope, DeliverySubtypeId, DeliveryTypeId, Edit, Language, Money, ProjectId, RecordError, RecordRepository, Zone,
};

use super::{Fixture, name, noon, stamp, token};
use crate::model::{Branch, NewDeliveryPrice, ProjectChange, ProjectPlan, ProjectRecords};
use crate::ports::{
    ApplicationRepository, CheckoutOptionRepository, DictionaryRepository, ProjectRepository, ProjectSettingsStore,
};
use crate::{DeliveryPriceRefusal, UnknownDelivery};

/// Creates a project that is ready to sell.
pub(super) async fn created<F: Fixture<Store: ProjectRepository>>(fixture: &F) -> ProjectRecords {
    let plan = ProjectPlan::ready_to_sell(name("Harbour"), token());
    fixture.store().create_project(plan, noon()).await.unwrap()
}

/// A project is created with everything in its plan, or nothing of it.
pub async fn a_project_is_created_whole<F>(fixture: &F)
where
    F: Fixture<Store: ProjectRepository + CheckoutOptionRepository + DictionaryRepository>,
{
    let (store, first, second) = (fixture.store(), token(), token());
    let plan = ProjectPlan::ready_to_sell(name("Harbour"), first.clone());
    let records = store.create_project(plan.clone(), noon()).await.unwrap();
    let project = records.project_id;
    let scope = AppScope { project_id: project, application_id: records.application_id, wholesale: false };
    assert_eq!(store.by_token(&first).await.unwrap(), Some(scope));
    let branches = RecordRepository::<Branch>::list(&*store, project).await.unwrap();
    assert_eq!(branches.iter().map(|branch| branch.id).collect::<Vec<_>>(), [records.branch_id]);
    let types = store.delivery_types(project).await.unwrap();
    let named: Vec<_> = types.iter().map(|kind| (kind.id.get(), kind.name.as_str())).collect();
    assert_eq!(named, plan.delivery_types);
    for (number, of_type, text) in &plan.delivery_subtypes {
        let of_type = DeliveryTypeId::new(*of_type).unwrap();
        let subtypes = store.delivery_subtypes(project, of_type).await.unwrap();
        assert!(subtypes.iter().any(|kind| (kind.id.get(), kind.name.as_str()) == (*number, *text)), "{subtypes:?}");
    }
    let accepted = store.payment_types(scope).await.unwrap();
    let named: Vec<_> = accepted.iter().map(|kind| (kind.name.as_str(), kind.is_online)).collect();
    assert_eq!(named, plan.payment_types.iter().map(|kind| (kind.name, kind.is_online)).collect::<Vec<_>>());
    assert_eq!(store.project_info(project).await.unwrap().unwrap().name, "Harbour");

    let repeated = ProjectPlan {
        token_fingerprint: second.clone(),
        delivery_types: vec![(1, "Pickup"), (1, "Pickup")],
        ..plan.clone()
    };
    let of_unknown_type = ProjectPlan {
        token_fingerprint: second.clone(),
        delivery_subtypes: vec![(1, 3, "To a pickup point")],
        ..plan.clone()
    };
    for refused in [plan, repeated, of_unknown_type] {
        assert!(store.create_project(refused, noon()).await.is_err());
    }
    assert_eq!(store.by_token(&first).await.unwrap(), Some(scope), "a token belongs to one application");
    assert_eq!(store.by_token(&second).await.unwrap(), None);
}

/// A project is deleted with its records, unless it has an employee. A repeated call changes nothing.
pub async fn a_project_with_employees_is_kept<F>(fixture: &F)
where
    F: Fixture<Store: ProjectRepository + CheckoutOptionRepository + DictionaryRepository>,
{
    let (store, empty, staffed) = (fixture.store(), created(fixture).await, created(fixture).await);
    fixture.employee(staffed.project_id).await;
    for project in [empty.project_id, staffed.project_id, empty.project_id] {
        store.abandon(project).await.unwrap();
    }
    assert!(store.project_info(staffed.project_id).await.unwrap().is_some());
    let kept = ApplicationRepository::project(&*store, staffed.application_id).await.unwrap();
    assert_eq!(kept, Some(staffed.project_id));
    assert_eq!(store.delivery_types(staffed.project_id).await.unwrap().len(), 2);
    assert_eq!(store.project_info(empty.project_id).await.unwrap(), None);
    assert_eq!(ApplicationRepository::project(&*store, empty.application_id).await.unwrap(), None);
    assert_eq!(store.delivery_types(empty.project_id).await.unwrap(), []);
}

/// Settings are changed in one existing project. Concurrent changes of different settings are all kept.
pub async fn settings_belong_to_their_project<F>(fixture: &F)
where
    F: Fixture<Store: ProjectRepository + ProjectSettingsStore + DictionaryRepository>,
{
    let (store, project) = (fixture.store(), created(fixture).await.project_id);
    let (other, unknown) = (created(fixture).await.project_id, ProjectId::new(i64::from(u32::MAX)).unwrap());
    let before = store.project_settings(other).await.unwrap();
    let change = ProjectChange::default;
    let changes = [
        ProjectChange { name: Edit::Set(name("Quay")), ..change() },
        ProjectChange { time_zone: Edit::Set(Zone::UTC), ..change() },
        ProjectChange { language: Edit::Set(Language::En), ..change() },
        ProjectChange { charges_delivery: Edit::Set(true), ..change() },
    ];
    let outcomes = join_all(changes.map(|change| store.change_project_settings(stamp(project), change))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert!(store.require_if_match(project, true).await.unwrap());
    let after = store.project_settings(project).await.unwrap().unwrap();
    assert_eq!((after.name, after.time_zone, after.language), (name("Quay"), Zone::UTC, Language::En));
    assert!(after.charges_delivery && after.if_match_required);
    assert!(store.set_language(project, Language::Ru).await.unwrap());
    let info = store.project_info(project).await.unwrap().unwrap();
    assert_eq!((info.name.as_str(), info.time_zone, info.language), ("Quay", Zone::UTC, Language::Ru));
    assert_eq!(store.project_settings(other).await.unwrap(), before);

    assert!(!store.set_time_zone(unknown, Zone::UTC).await.unwrap());
    assert!(!store.set_language(unknown, Language::En).await.unwrap());
    assert!(!store.require_if_match(unknown, true).await.unwrap());
    let refused = store.change_project_settings(stamp(unknown), change()).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    assert_eq!(store.project_settings(unknown).await.unwrap(), None);
}

/// The prices of a call are all set, or none of them. Concurrent calls keep the prices of each other.
pub async fn delivery_prices_are_set_together<F>(fixture: &F)
where
    F: Fixture<Store: ProjectRepository + ProjectSettingsStore + CheckoutOptionRepository>,
{
    let (store, project, other) =
        (fixture.store(), created(fixture).await.project_id, created(fixture).await.project_id);
    let price = |of_type: i64, subtype: Option<i64>, minor: i64| NewDeliveryPrice {
        type_id: DeliveryTypeId::new(of_type).unwrap(),
        subtype_id: subtype.map(|id| DeliverySubtypeId::new(id).unwrap()),
        price: Money::from_minor(minor).unwrap(),
    };
    let set = |prices: Vec<NewDeliveryPrice>| store.set_delivery_prices(stamp(project), prices);
    let before = store.delivery_prices(project).await.unwrap();
    let places = before.iter().map(|price| {
        let subtype = price.subtype.as_ref().map(|(id, _)| id.get());
        (price.delivery_type.0.get(), subtype)
    });
    assert_eq!(places.collect::<Vec<_>>(), [(1, None), (2, None), (2, Some(1)), (2, Some(2))]);
    let refused = set(vec![price(1, None, 100), price(3, None, 100), price(1, Some(1), 100)]).await;
    let unknown = DeliveryPriceRefusal::Unknown(vec![UnknownDelivery::Type(1), UnknownDelivery::Subtype(2)]);
    assert!(matches!(&refused, Err(RecordError::Refused(refusal)) if *refusal == unknown), "{refused:?}");
    assert_eq!(store.delivery_prices(project).await.unwrap(), before, "a refused call changes nothing");
    let prices = [price(1, None, 100), price(2, Some(1), 200), price(2, Some(2), 300)];
    let outcomes = join_all(prices.map(|price| set(vec![price]))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let after = store.delivery_prices(project).await.unwrap();
    assert_eq!(after.iter().map(|price| price.price.minor()).collect::<Vec<_>>(), [100, 0, 200, 300]);
    let shown = store.delivery_types(project).await.unwrap();
    assert_eq!(shown.iter().map(|kind| kind.price.minor()).collect::<Vec<_>>(), [100, 0]);
    let foreign = store.delivery_prices(other).await.unwrap();
    assert!(foreign.iter().all(|price| price.price == Money::ZERO), "{foreign:?}");
}
