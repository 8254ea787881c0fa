use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use futures_util::future::{join, join_all};
use kontor_kernel::{Name, PageRequest, Permission, ProjectId, Resource, UserId};
use uuid::Uuid;

use super::agents::{EDIT, VIEW, agent_email, agent_login, agents, both, new_token};
use super::{Fixture, after, fresh, noon, owner};
use crate::model::{
    AccessRequest, AccessRequestDraft, Approval, Consumption, MAX_AGENT_TOKENS, NewAccessRequest, Reason, Refusal,
    RequestStatus, Review, Stage,
};
use crate::ports::{AccessRequestRepository, AgentRepository, TokenRepository as _};
use crate::{AccessRequestError, AccessRequestRefusal};

/// Project with one of its owners.
type Reviewer = (ProjectId, UserId);

async fn reviewer<F: Fixture>(fixture: &F) -> Reviewer {
    let [app, _] = fixture.apps().await;
    (app.project_id, owner(fixture, app.project_id).await)
}

/// A pending request for [`both`] permissions, which expires after half an hour.
async fn requested<F: Fixture<Store: AccessRequestRepository>>(fixture: &F) -> Uuid {
    let public_id = Uuid::from_u64_pair(18, fresh().into());
    let name = Name::parse("Bot").unwrap();
    let new = NewAccessRequest {
        public_id,
        fingerprint: "secret".to_owned(),
        details: AccessRequestDraft { name, reason: Reason::parse("to help").unwrap(), permissions: both() },
        created_at: noon(),
        expires_at: after(1_800),
    };
    AccessRequestRepository::insert(&*fixture.store(), new).await.unwrap();
    public_id
}

async fn found<F: Fixture<Store: AccessRequestRepository>>(fixture: &F, public_id: Uuid) -> AccessRequest {
    AccessRequestRepository::find(&*fixture.store(), public_id).await.unwrap().unwrap().request
}

fn approval(public_id: Uuid, (project_id, reviewer): Reviewer, at: DateTime<Utc>) -> Approval {
    Approval {
        public_id,
        project_id,
        reviewer,
        held: both(),
        permissions: None,
        name: None,
        login: agent_login(),
        email: agent_email(),
        at,
    }
}

fn refusal(public_id: Uuid, (project_id, reviewer): Reviewer, at: DateTime<Utc>) -> Refusal {
    Refusal { public_id, project_id, reviewer, reason: Reason::parse("no").ok(), at }
}

fn review(public_id: Uuid, (project_id, reviewer): Reviewer, permissions: Option<BTreeSet<Permission>>) -> Review {
    Review { public_id, project_id, reviewer, permissions, at: after(1) }
}

fn consumption(public_id: Uuid, at: DateTime<Utc>) -> Consumption {
    Consumption { public_id, fingerprint: format!("token {}", fresh()), at, expires_at: after(86_400) }
}

fn refused<T>(outcome: Result<T, AccessRequestError>) -> Option<AccessRequestRefusal> {
    match outcome {
        Err(AccessRequestError::Refused(refusal)) => Some(refusal),
        _ => None,
    }
}

/// Refusal of a step in this state.
fn not_in(status: RequestStatus) -> AccessRequestRefusal {
    AccessRequestRefusal::State(status)
}

async fn decided<F: Fixture<Store: AccessRequestRepository>>(
    fixture: &F,
    public_id: Uuid,
    reviewer: Reviewer,
    approves: bool,
) -> Result<Stage, AccessRequestError> {
    let store = fixture.store();
    if approves {
        store.approve(approval(public_id, reviewer, after(1))).await.map(|(request, _)| request.stage)
    } else {
        store.decline(refusal(public_id, reviewer, after(1))).await.map(|request| request.stage)
    }
}

/// Under concurrent approvals and refusals in two projects, an access request is decided once. An approval creates one
/// agent.
pub async fn an_access_request_is_decided_once<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AccessRequestRepository>,
{
    let (left, right) = (reviewer(fixture).await, reviewer(fixture).await);
    let id = requested(fixture).await;
    let decide = |number: i32| decided(fixture, id, if number % 2 == 0 { left } else { right }, number % 3 != 1);
    let outcomes = join_all((0..8).map(decide)).await;
    let (done, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    for outcome in lost {
        let is_foreign = matches!(outcome, Err(AccessRequestError::NotFound));
        assert!(is_foreign || matches!(refused(outcome), Some(AccessRequestRefusal::State(_))));
    }
    let done: Vec<Stage> = done.into_iter().filter_map(Result::ok).collect();
    let request = found(fixture, id).await;
    assert_eq!(done, std::slice::from_ref(&request.stage));
    let made = [agents(fixture, left.0).await, agents(fixture, right.0).await].concat();
    assert_eq!(made.len(), usize::from(matches!(request.stage, Stage::Approved(_))), "{made:?}");
    for agent in made {
        assert_eq!(request.stage, Stage::Approved(agent.id));
    }
}

/// Under concurrent calls, an approved request gives one token, which grants the approved permissions.
pub async fn an_access_request_gives_one_token<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AccessRequestRepository>,
{
    let (store, reviewer) = (fixture.store(), reviewer(fixture).await);
    let id = requested(fixture).await;
    assert_eq!(refused(store.consume(consumption(id, after(1))).await), Some(not_in(RequestStatus::Pending)));
    let part = Approval { permissions: Some([VIEW].into()), held: [VIEW].into(), ..approval(id, reviewer, after(1)) };
    let (approved, agent) = store.approve(part).await.unwrap();
    assert_eq!((approved.permissions, &approved.stage), ([VIEW].into(), &Stage::Approved(agent.id)));
    let outcomes = join_all((0..8).map(|_| store.consume(consumption(id, after(2))))).await;
    let (fetched, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert!(lost.into_iter().all(|outcome| refused(outcome) == Some(not_in(RequestStatus::Consumed))));
    let mut fetched = fetched.into_iter().filter_map(Result::ok);
    let (token, holder) = fetched.next().unwrap();
    assert!(fetched.next().is_none(), "one token is fetched");
    assert_eq!(holder, agent);
    let stored = store.staff_token(token).await.unwrap().unwrap();
    assert_eq!((stored.user_id, stored.granted()), (agent.id, [VIEW].into()));
    assert_eq!(store.tokens(agent.id).await.unwrap().len(), 1);
    assert_eq!(found(fixture, id).await.stage, Stage::Consumed(agent.id));
}

/// A request gives no token beyond the maximum of its agent. It stays approved, and gives the token once there is room.
pub async fn an_access_request_respects_the_maximum_of_tokens<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AccessRequestRepository>,
{
    let (store, reviewer) = (fixture.store(), reviewer(fixture).await);
    let id = requested(fixture).await;
    let (_, agent) = store.approve(approval(id, reviewer, after(1))).await.unwrap();
    let first = store.insert_token(new_token(agent.id)).await.unwrap().id;
    for _ in 1..MAX_AGENT_TOKENS {
        store.insert_token(new_token(agent.id)).await.unwrap();
    }
    let full = store.consume(consumption(id, after(2))).await;
    assert_eq!(refused(full), Some(AccessRequestRefusal::TooManyTokens));
    assert_eq!(found(fixture, id).await.stage, Stage::Approved(agent.id));
    assert!(store.delete_token(agent.id, first).await.unwrap());
    let racing = join(store.consume(consumption(id, after(3))), store.insert_token(new_token(agent.id)));
    let (fetched, issued) = racing.await;
    assert_ne!(fetched.is_ok(), issued.is_ok(), "{fetched:?} {issued:?}");
    assert_eq!(i64::try_from(store.tokens(agent.id).await.unwrap().len()), Ok(MAX_AGENT_TOKENS));
}

/// Under concurrent reviews, one project gets a request. Other projects do not find it, and reviews only narrow it.
pub async fn a_request_belongs_to_one_project<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AccessRequestRepository>,
{
    let (store, left, right) = (fixture.store(), reviewer(fixture).await, reviewer(fixture).await);
    let id = requested(fixture).await;
    let narrow = |number: i32| {
        let reviewer = if number % 2 == 0 { left } else { right };
        store.review(review(id, reviewer, Some([VIEW].into())))
    };
    let outcomes = join_all((0..8).map(narrow)).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 4, "{outcomes:?}");
    let request = found(fixture, id).await;
    let (own, other) = if request.project_id == Some(left.0) { (left, right) } else { (right, left) };
    assert_eq!((request.project_id, request.permissions), (Some(own.0), [VIEW].into()));
    for refused in [
        store.review(review(id, other, None)).await.map(|_| ()),
        store.approve(approval(id, other, after(1))).await.map(|_| ()),
        store.decline(refusal(id, other, after(1))).await.map(|_| ()),
        store.review(review(Uuid::nil(), own, None)).await.map(|_| ()),
        store.consume(consumption(Uuid::nil(), after(1))).await.map(|_| ()),
    ] {
        assert!(matches!(refused, Err(AccessRequestError::NotFound)), "{refused:?}");
    }
    let wider = refused(store.review(review(id, own, Some(both()))).await);
    assert_eq!(wider, Some(AccessRequestRefusal::NotRequested([EDIT].into())));
    let held = BTreeSet::from([Permission::view(Resource::Brands)]);
    let stronger = refused(store.approve(Approval { held, ..approval(id, own, after(1)) }).await);
    assert!(matches!(stronger, Some(AccessRequestRefusal::PermissionsNotHeld(_))), "{stronger:?}");
    assert_eq!(agents(fixture, own.0).await, []);
    let later = requested(fixture).await;
    store.decline(refusal(later, own, after(1))).await.unwrap();
    let page = PageRequest::new(1, 50, 50).unwrap();
    let handled = store.handled(own.0, page).await.unwrap().items;
    assert_eq!(handled.iter().map(|request| request.public_id).collect::<Vec<_>>(), [later, id], "newest first");
    assert_eq!(store.handled(other.0, page).await.unwrap().total, 0);
}

/// A request that has expired is not decided, and its token is not fetched. A request whose agent was deleted counts as
/// declined.
pub async fn an_access_request_expires<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AccessRequestRepository>,
{
    let (store, reviewer) = (fixture.store(), reviewer(fixture).await);
    let (late, left, lost) = (requested(fixture).await, requested(fixture).await, requested(fixture).await);
    let end = after(1_800);
    let expired = Some(not_in(RequestStatus::Expired));
    assert_eq!(refused(store.approve(approval(late, reviewer, end)).await), expired);
    assert_eq!(refused(store.decline(refusal(late, reviewer, end)).await), expired);
    assert_eq!(refused(store.review(Review { at: end, ..review(late, reviewer, None) }).await), expired);
    store.approve(approval(left, reviewer, after(1_799))).await.unwrap();
    assert_eq!(refused(store.consume(consumption(left, end)).await), expired);
    let (_, agent) = store.approve(approval(lost, reviewer, after(1))).await.unwrap();
    AgentRepository::delete(&*store, agent.id, both(), after(2)).await.unwrap();
    assert_eq!(refused(store.consume(consumption(lost, after(3))).await), Some(not_in(RequestStatus::Declined)));
}
