use futures_util::future::join_all;
use kontor_kernel::{IntegrationId, ProjectId, RecordError};

use super::bank_accounts::draft;
use super::{Fixture, branch, stamp};
use crate::IntegrationRefusal;
use crate::model::{IntegrationKind, IntegrationOwner, ParameterKey, ParameterText, StoredValue};
use crate::ports::{BranchRequisiteRepository, IntegrationRepository};

/// A new bank account of a project, and an integration that fits it.
async fn account<F>(fixture: &F, project: ProjectId) -> (IntegrationOwner, IntegrationId)
where
    F: Fixture<Store: BranchRequisiteRepository + IntegrationRepository>,
{
    let (store, branch) = (fixture.store(), branch(fixture, project).await);
    let account = BranchRequisiteRepository::insert(&*store, stamp(project), branch, draft()).await.unwrap();
    let all = store.all().await.unwrap();
    let fits = all.iter().find(|integration| integration.owner == IntegrationKind::BankRequisite);
    (IntegrationOwner::BankRequisite(branch, account.id), fits.unwrap().id)
}

/// Under concurrent calls, a parameter of an integration is set once. Only the project of the record sets and removes
/// it. A secret is not read back.
pub async fn a_parameter_is_set_once<F>(fixture: &F)
where
    F: Fixture<Store: BranchRequisiteRepository + IntegrationRepository>,
{
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (owner, id) = account(fixture, project).await;
    let (neighbour, _) = account(fixture, project).await;
    let key = |text| ParameterKey::parse(text).unwrap();
    let sealed = || StoredValue::Sealed("sealed".to_owned());
    let add = |project| store.add_parameter(stamp(project), owner, id, key("secret"), sealed());
    let refused = add(other).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let outcomes = join_all((0..4).map(|_| add(project))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let taken =
        outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::Refused(IntegrationRefusal::KeyTaken))));
    assert_eq!(taken.count(), 3, "{outcomes:?}");
    let plain = StoredValue::Plain(ParameterText::parse("42").unwrap());
    let shown = store.add_parameter(stamp(project), owner, id, key("terminal"), plain).await.unwrap();
    let stored = store.parameters(owner, id).await.unwrap();
    let values: Vec<Option<&str>> = stored.iter().map(|parameter| parameter.value.as_deref()).collect();
    assert_eq!(values, [None, Some("42")]);
    assert_eq!(store.parameters(neighbour, id).await.unwrap(), []);
    assert!(!store.remove_parameter(stamp(project), neighbour, id, shown.id).await.unwrap());
    assert!(!store.remove_parameter(stamp(other), owner, id, shown.id).await.unwrap());
    assert!(store.remove_parameter(stamp(project), owner, id, shown.id).await.unwrap());
    assert!(!store.remove_parameter(stamp(project), owner, id, shown.id).await.unwrap());
    assert_eq!(store.parameters(owner, id).await.unwrap().len(), 1);
}

/// An integration is turned on for one record, by its project, and only for the kind of records that it fits.
pub async fn an_integration_is_on_for_its_record<F>(fixture: &F)
where
    F: Fixture<Store: BranchRequisiteRepository + IntegrationRepository>,
{
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (owner, id) = account(fixture, project).await;
    let (neighbour, _) = account(fixture, project).await;
    assert!(store.owner(owner).await.unwrap().unwrap().within(project).is_some());
    let refused = store.switch(stamp(other), owner, id, true).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let all = store.all().await.unwrap();
    for unfit in all.iter().filter(|integration| integration.owner != IntegrationKind::BankRequisite) {
        let refused = store.switch(stamp(project), owner, unfit.id, true).await;
        assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    }
    let active = async |owner| {
        let used = store.used(owner).await.unwrap();
        used.into_iter().filter(|used| used.is_active).map(|used| used.integration.id).collect::<Vec<_>>()
    };
    assert!(store.switch(stamp(project), owner, id, true).await.unwrap().is_active);
    assert_eq!((active(owner).await, active(neighbour).await), (vec![id], vec![]));
    assert!(!store.switch(stamp(project), owner, id, false).await.unwrap().is_active);
    assert_eq!(active(owner).await, []);
}
