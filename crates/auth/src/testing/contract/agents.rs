use std::collections::BTreeSet;

use futures_util::future::{join, join_all};
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    Edit, Email, Listing, Name, PageRequest, Permission, ProjectId, ProjectScoped, Resource, TokenId, UserId,
};

use super::{Fixture, after, fresh, noon, owner};
use crate::model::{Agent, AgentUpdate, Login, MAX_AGENT_TOKENS, NewAgent, NewAgentToken, StoredStaffToken};
use crate::ports::{AgentRepository, TokenRepository as _};
use crate::{AgentError, AgentRefusal};

pub(super) const VIEW: Permission = Permission::view(Resource::Orders);
pub(super) const EDIT: Permission = Permission::edit(Resource::Orders);

/// Both permissions of the agents of these checks.
pub(super) fn both() -> BTreeSet<Permission> {
    [VIEW, EDIT].into()
}

pub(super) fn agent_login() -> Login {
    Login::parse(&format!("agent-{}", fresh())).unwrap()
}

pub(super) fn agent_email() -> Email {
    Email::parse("agent@agents.invalid").unwrap()
}

/// An agent of the project with [`both`] permissions.
pub(super) async fn agent<F: Fixture<Store: AgentRepository>>(
    fixture: &F,
    project_id: ProjectId,
    creator: UserId,
) -> Agent {
    let new = NewAgent {
        project_id,
        creator,
        login: agent_login(),
        email: agent_email(),
        name: Name::parse("Bot").unwrap(),
        description: None,
        permissions: both(),
        is_banned: false,
        at: noon(),
    };
    AgentRepository::insert(&*fixture.store(), new).await.unwrap()
}

/// The agents of a project.
pub(super) async fn agents<F: Fixture<Store: AgentRepository>>(fixture: &F, project: ProjectId) -> Vec<Agent> {
    let listing = Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 50, 50).unwrap());
    AgentRepository::list(&*fixture.store(), project, listing).await.unwrap().items
}

pub(super) fn new_token(agent: UserId) -> NewAgentToken {
    NewAgentToken {
        agent,
        held: both(),
        name: Name::parse("Night run").unwrap(),
        abilities: None,
        fingerprint: format!("token {}", fresh()),
        created_at: noon(),
        expires_at: after(3_600),
    }
}

async fn issued<F: Fixture<Store: AgentRepository>>(fixture: &F, agent: UserId) -> TokenId {
    fixture.store().insert_token(new_token(agent)).await.unwrap().id
}

fn update(agent: UserId) -> AgentUpdate {
    AgentUpdate {
        agent,
        held: both(),
        name: Edit::Keep,
        description: Edit::Keep,
        permissions: Edit::Keep,
        is_banned: Edit::Keep,
        at: after(1),
    }
}

async fn stored<F: Fixture>(fixture: &F, token: TokenId) -> Option<StoredStaffToken> {
    fixture.store().staff_token(token).await.unwrap()
}

/// A deletion revokes the tokens of an agent at once, also those that are issued meanwhile. Afterwards the agent is not
/// found.
pub async fn a_deleted_agent_has_no_tokens<F: Fixture<Store: AgentRepository>>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let project = app.project_id;
    let admin = owner(fixture, project).await;
    let (deleted, other) = (agent(fixture, project, admin).await, agent(fixture, project, admin).await);
    let (lost, kept) = (issued(fixture, deleted.id).await, issued(fixture, other.id).await);
    let issue = join_all((0..6).map(|_| store.insert_token(new_token(deleted.id))));
    let (racing, outcome) = join(issue, AgentRepository::delete(&*store, deleted.id, both(), after(1))).await;
    outcome.unwrap();
    for token in racing.into_iter().filter_map(Result::ok).map(|token| token.id).chain([lost]) {
        assert!(stored(fixture, token).await.is_none());
    }
    assert!(stored(fixture, kept).await.is_some());
    assert_eq!(store.tokens(deleted.id).await.unwrap(), []);
    assert!(AgentRepository::find(&*store, deleted.id).await.unwrap().is_none());
    assert_eq!(agents(fixture, project).await, [other]);
    for refused in [
        store.insert_token(new_token(deleted.id)).await.map(|_| ()),
        AgentRepository::update(&*store, update(deleted.id)).await.map(|_| ()),
        AgentRepository::delete(&*store, deleted.id, both(), after(1)).await,
    ] {
        assert!(matches!(refused, Err(AgentError::NotFound)), "{refused:?}");
    }
}

/// A token of an agent grants what the agent may do now, and no more than its abilities. A pause applies at once.
pub async fn a_token_follows_its_agent<F: Fixture<Store: AgentRepository>>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let admin = owner(fixture, app.project_id).await;
    let bot = agent(fixture, app.project_id, admin).await;
    let whole = issued(fixture, bot.id).await;
    let limited = NewAgentToken { abilities: Some([EDIT].into()), ..new_token(bot.id) };
    let part = store.insert_token(limited).await.unwrap().id;
    let granted = async |token| stored(fixture, token).await.unwrap().granted();
    assert_eq!((granted(whole).await, granted(part).await), (both(), [EDIT].into()));
    let found = stored(fixture, whole).await.unwrap();
    assert_eq!((found.user_id, found.project_id, found.is_agent), (bot.id, app.project_id, true));
    let narrowed = AgentUpdate { permissions: Edit::Set([VIEW].into()), ..update(bot.id) };
    AgentRepository::update(&*store, narrowed).await.unwrap();
    assert_eq!((granted(whole).await, granted(part).await), ([VIEW].into(), BTreeSet::new()));
    for is_banned in [true, false] {
        let change = AgentUpdate { is_banned: Edit::Set(is_banned), ..update(bot.id) };
        assert_eq!(AgentRepository::update(&*store, change).await.unwrap().is_banned, is_banned);
        assert_eq!(stored(fixture, whole).await.unwrap().is_banned, is_banned);
    }
}

/// Callers change no agent that has more permissions than they hold, and issue no token that grants more.
pub async fn callers_change_no_stronger_agent<F: Fixture<Store: AgentRepository>>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let admin = owner(fixture, app.project_id).await;
    let bot = agent(fixture, app.project_id, admin).await;
    let weak = || BTreeSet::from([VIEW]);
    let pause = AgentUpdate { held: weak(), is_banned: Edit::Set(true), ..update(bot.id) };
    for refused in [
        AgentRepository::update(&*store, pause).await.map(|_| ()),
        AgentRepository::delete(&*store, bot.id, weak(), after(1)).await,
        store.insert_token(NewAgentToken { held: weak(), ..new_token(bot.id) }).await.map(|_| ()),
    ] {
        assert!(matches!(refused, Err(AgentError::Refused(AgentRefusal::PermissionsNotHeld(_)))), "{refused:?}");
    }
    let brands = Permission::view(Resource::Brands);
    let wider = NewAgentToken { held: [brands].into(), abilities: Some([brands].into()), ..new_token(bot.id) };
    let refused = store.insert_token(wider).await;
    assert!(matches!(refused, Err(AgentError::Refused(AgentRefusal::ExceedsAgent(_)))), "{refused:?}");
    assert_eq!(store.tokens(bot.id).await.unwrap(), []);
    let found = AgentRepository::find(&*store, bot.id).await.unwrap();
    assert_eq!(found, Some(ProjectScoped::new(app.project_id, bot.clone())));
    let part = NewAgentToken { held: weak(), abilities: Some(weak()), ..new_token(bot.id) };
    store.insert_token(part).await.unwrap();
}

/// Under concurrent calls, an agent has a maximum number of tokens. Its tokens are revoked one by one, by no other
/// agent.
pub async fn an_agent_has_a_maximum_of_tokens<F: Fixture<Store: AgentRepository>>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let admin = owner(fixture, app.project_id).await;
    let (bot, other) = (agent(fixture, app.project_id, admin).await, agent(fixture, app.project_id, admin).await);
    let first = issued(fixture, bot.id).await;
    for _ in 2..MAX_AGENT_TOKENS {
        issued(fixture, bot.id).await;
    }
    let outcomes = join_all((0..4).map(|_| store.insert_token(new_token(bot.id)))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let full =
        |outcome: &&Result<_, AgentError>| matches!(outcome, Err(AgentError::Refused(AgentRefusal::TooManyTokens)));
    assert_eq!(outcomes.iter().filter(full).count(), 3, "{outcomes:?}");
    issued(fixture, other.id).await;
    assert!(!store.delete_token(other.id, first).await.unwrap());
    assert!(stored(fixture, first).await.is_some());
    assert!(store.delete_token(bot.id, first).await.unwrap());
    assert!(stored(fixture, first).await.is_none());
    assert!(!store.delete_token(bot.id, first).await.unwrap());
    issued(fixture, bot.id).await;
}
