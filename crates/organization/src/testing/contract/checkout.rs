use std::collections::BTreeSet;

use futures_util::future::join_all;
use kontor_kernel::{
    AppScope, ApplicationId, DeliveryTypeId, Edit, Name, PaymentTypeId, ProjectId, RecordError, RecordRepository,
};

use super::projects::created;
use super::{Fixture, name, stamp};
use crate::ApplicationRefusal;
use crate::model::{PaymentType, PaymentTypeChange, PaymentTypeDraft};
use crate::ports::{CheckoutOptionRepository, ProjectRepository};

async fn payment_type<F>(fixture: &F, project: ProjectId, name: Name) -> PaymentType
where
    F: Fixture<Store: RecordRepository<PaymentType>>,
{
    let draft = PaymentTypeDraft { name, description: None, photo: None, is_online: false };
    RecordRepository::<PaymentType>::insert(&*fixture.store(), stamp(project), draft).await.unwrap()
}

/// Returns a new application of a project with two payment types, and their identifiers.
async fn application<F>(fixture: &F) -> (AppScope, [PaymentTypeId; 2])
where
    F: Fixture<Store: ProjectRepository + CheckoutOptionRepository>,
{
    let records = created(fixture).await;
    let (project_id, application_id) = (records.project_id, records.application_id);
    let app = AppScope { project_id, application_id, wholesale: false };
    let accepted = fixture.store().payment_types(app).await.unwrap();
    let ids: Vec<PaymentTypeId> = accepted.iter().map(|kind| kind.id).collect();
    (app, ids.try_into().unwrap())
}

/// Delivery types and subtypes are listed by number, in their project.
pub async fn delivery_options_belong_to_their_project<F>(fixture: &F)
where
    F: Fixture<Store: ProjectRepository + CheckoutOptionRepository>,
{
    let (store, project, other) = (fixture.store(), created(fixture).await.project_id, fixture.project().await);
    let [pickup, delivery] = [1, 2].map(|id| DeliveryTypeId::new(id).unwrap());
    let types = store.delivery_types(project).await.unwrap();
    let active: Vec<_> = types.iter().map(|kind| (kind.id, kind.is_active)).collect();
    assert_eq!(active, [(pickup, true), (delivery, true)]);
    assert_eq!(store.delivery_types(other).await.unwrap(), []);
    let subtypes = store.delivery_subtypes(project, delivery).await.unwrap();
    assert_eq!(subtypes.iter().map(|kind| kind.id.get()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(store.delivery_subtypes(project, pickup).await.unwrap(), []);
    assert_eq!(store.delivery_subtypes(other, delivery).await.unwrap(), []);
    for subtype in subtypes {
        assert_eq!(store.delivery_subtype_params(project, subtype.id).await.unwrap(), []);
        assert_eq!(store.delivery_subtype(other, subtype.id).await.unwrap(), None);
        assert_eq!(store.delivery_subtype(project, subtype.id).await.unwrap(), Some(subtype));
    }
}

/// A payment type is listed and changed in its project.
pub async fn a_payment_type_belongs_to_its_project<F: Fixture<Store: RecordRepository<PaymentType>>>(fixture: &F) {
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let added = payment_type(fixture, project, name("Cash")).await;
    let change = PaymentTypeChange { name: Edit::Set(name("Card")), ..PaymentTypeChange::default() };
    let update = |project| RecordRepository::<PaymentType>::update(&*store, stamp(project), added.id, change.clone());
    let refused = update(other).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let found = RecordRepository::<PaymentType>::find(&*store, added.id).await.unwrap().unwrap();
    assert_eq!(found.within(project), Some(added.clone()));
    let changed = update(project).await.unwrap();
    assert_eq!(changed, PaymentType { name: name("Card"), ..added });
    let listed = RecordRepository::<PaymentType>::list(&*store, project).await.unwrap();
    assert_eq!(listed, [changed]);
    let listed = RecordRepository::<PaymentType>::list(&*store, other).await.unwrap();
    assert_eq!(listed, []);
}

/// An application accepts the payment types that are chosen for it, of its project, or all of the project. A refused
/// choice changes nothing.
pub async fn an_application_accepts_its_payment_types<F>(fixture: &F)
where
    F: Fixture<Store: ProjectRepository + CheckoutOptionRepository + RecordRepository<PaymentType>>,
{
    let store = fixture.store();
    let ((app, [first, second]), (outsider, [foreign, _])) = (application(fixture).await, application(fixture).await);
    let (id, unknown) = (app.application_id, PaymentTypeId::new(i64::from(u32::MAX)).unwrap());
    let choose = |id: ApplicationId, chosen: BTreeSet<PaymentTypeId>| {
        store.choose_payment_types(stamp(app.project_id), id, chosen)
    };
    let accepted = async || {
        let types = store.payment_types(app).await.unwrap();
        let choices = store.payment_choices(id).await.unwrap().unwrap();
        let taken = choices.into_iter().filter(|choice| choice.is_taken).map(|choice| choice.payment_type);
        assert_eq!(taken.collect::<Vec<_>>(), types);
        types.iter().map(|kind| kind.id).collect::<Vec<_>>()
    };
    assert_eq!(accepted().await, [first, second]);
    choose(id, [second].into()).await.unwrap();
    assert_eq!(accepted().await, [second]);
    for refused in [foreign, unknown] {
        let refused = choose(id, [first, refused].into()).await;
        let is_unknown = matches!(refused, Err(RecordError::Refused(ApplicationRefusal::UnknownPaymentType)));
        assert!(is_unknown, "{refused:?}");
    }
    let later = payment_type(fixture, app.project_id, name("Later")).await.id;
    assert_eq!(accepted().await, [second]);
    choose(id, BTreeSet::new()).await.unwrap();
    assert_eq!(accepted().await, [first, second, later]);
    let scoped = store.scoped_payment_choices(id).await.unwrap().unwrap();
    assert!(scoped.within(outsider.project_id).is_none());
    let nowhere = ApplicationId::new(i64::from(u32::MAX)).unwrap();
    for refused in [
        choose(nowhere, BTreeSet::new()).await,
        store.choose_payment_types(stamp(outsider.project_id), id, BTreeSet::new()).await,
    ] {
        assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    }
    assert_eq!(store.payment_choices(nowhere).await.unwrap(), None);
}

/// One of concurrent choices is stored, and as a whole.
pub async fn one_of_concurrent_choices_is_stored<F>(fixture: &F)
where
    F: Fixture<Store: ProjectRepository + CheckoutOptionRepository + RecordRepository<PaymentType>>,
{
    let store = fixture.store();
    let (app, [first, second]) = application(fixture).await;
    let third = payment_type(fixture, app.project_id, name("Third")).await.id;
    let sets = [vec![first, second], vec![third]];
    let choices = sets.iter().cycle().take(8).map(|chosen| {
        let chosen: BTreeSet<PaymentTypeId> = chosen.iter().copied().collect();
        store.choose_payment_types(stamp(app.project_id), app.application_id, chosen)
    });
    let outcomes = join_all(choices).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let accepted = store.payment_types(app).await.unwrap();
    let accepted: Vec<PaymentTypeId> = accepted.iter().map(|kind| kind.id).collect();
    assert!(sets.contains(&accepted), "{accepted:?}");
}
