//! Agents, their tokens, and access requests.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::upkeep::SWEPT_TABLES;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_auth::model::{
    AccessRequestDraft, Agent, AgentUpdate, Approval, Consumption, Login, NewAccessRequest, NewAgent, NewAgentToken,
    Reason, Refusal, RequestStatus, Review, RoleChoice, Stage,
};
use kontor_auth::ports::{AccessRequestRepository, AgentRepository, StaffRepository, TokenRepository};
use kontor_auth::{AccessRequestError, AccessRequestRefusal, AgentError, AgentRefusal};
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    Edit, Email, Listing, Name, PageRequest, Permission, ProjectId, ProjectScoped, Prose, Resource, TokenId, UserId,
};
use uuid::Uuid;

use crate::{fixtures, staff};

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;
const VIEW: Permission = Permission::view(Resource::Orders);
const EDIT: Permission = Permission::edit(Resource::Orders);

fn set(permissions: &[Permission]) -> BTreeSet<Permission> {
    permissions.iter().copied().collect()
}

fn minutes(minutes: i64) -> DateTime<Utc> {
    START + TimeDelta::minutes(minutes)
}

/// A project with an employee.
pub async fn staff_fixture(db: &TestDatabase) -> (ProjectId, UserId) {
    let project = fixtures::project(db).await;
    let owner = staff::employee(project, &format!("boss-{project}"), RoleChoice::Owner);
    (project, db.database.insert_employee(owner).await.unwrap())
}

fn new_agent(staff_fixture: (ProjectId, UserId), name: &str, permissions: &[Permission]) -> NewAgent {
    NewAgent {
        project_id: staff_fixture.0,
        creator: staff_fixture.1,
        login: Login::parse(&format!("agent-{name}")).unwrap(),
        email: Email::parse("agent@agents.invalid").unwrap(),
        name: Name::parse(name).unwrap(),
        description: Some(Prose::parse("counts").unwrap()),
        permissions: set(permissions),
        is_banned: false,
        at: START,
    }
}

pub async fn made(
    db: &TestDatabase,
    staff_fixture: (ProjectId, UserId),
    name: &str,
    permissions: &[Permission],
) -> Agent {
    AgentRepository::insert(&db.database, new_agent(staff_fixture, name, permissions)).await.unwrap()
}

fn update(agent: &Agent, held: &[Permission]) -> AgentUpdate {
    AgentUpdate {
        agent: agent.id,
        held: set(held),
        name: Edit::Keep,
        description: Edit::Keep,
        permissions: Edit::Keep,
        is_banned: Edit::Keep,
        at: minutes(1),
    }
}

pub fn token(agent: &Agent, abilities: Option<&[Permission]>) -> NewAgentToken {
    NewAgentToken {
        agent: agent.id,
        held: Permission::all().collect(),
        name: Name::parse("Night run").unwrap(),
        abilities: abilities.map(set),
        fingerprint: "f".to_owned(),
        created_at: START,
        expires_at: minutes(60),
    }
}

/// Permissions of a call with a token; `None` when the token is unknown or not admitted.
async fn opens(db: &Database, token: TokenId) -> Option<BTreeSet<Permission>> {
    let stored = db.staff_token(token).await.unwrap()?;
    (!stored.is_banned).then(|| stored.granted())
}

fn request(id: u128) -> NewAccessRequest {
    NewAccessRequest {
        public_id: Uuid::from_u128(id),
        fingerprint: "s".to_owned(),
        details: AccessRequestDraft {
            name: Name::parse("Bot").unwrap(),
            reason: Reason::parse("to help").unwrap(),
            permissions: set(&[VIEW, EDIT]),
        },
        created_at: START,
        expires_at: minutes(30),
    }
}

fn approval(id: u128, staff_fixture: (ProjectId, UserId), login: &str) -> Approval {
    Approval {
        public_id: Uuid::from_u128(id),
        project_id: staff_fixture.0,
        reviewer: staff_fixture.1,
        held: Permission::all().collect(),
        permissions: None,
        name: None,
        login: Login::parse(login).unwrap(),
        email: Email::parse("agent@agents.invalid").unwrap(),
        at: minutes(1),
    }
}

fn refusal(id: u128, staff_fixture: (ProjectId, UserId)) -> Refusal {
    let reason = Some(Reason::parse("no").unwrap());
    Refusal {
        public_id: Uuid::from_u128(id),
        project_id: staff_fixture.0,
        reviewer: staff_fixture.1,
        reason,
        at: minutes(1),
    }
}

fn review(id: u128, staff_fixture: (ProjectId, UserId), permissions: Option<&[Permission]>) -> Review {
    let (project_id, reviewer) = staff_fixture;
    let permissions = permissions.map(set);
    Review { public_id: Uuid::from_u128(id), project_id, reviewer, permissions, at: minutes(1) }
}

fn consumption(id: u128, at: DateTime<Utc>) -> Consumption {
    Consumption {
        public_id: Uuid::from_u128(id),
        fingerprint: "t".to_owned(),
        at,
        expires_at: at + TimeDelta::days(30),
    }
}

fn state<T>(outcome: Result<T, AccessRequestError>) -> RequestStatus {
    match outcome {
        Err(AccessRequestError::Refused(AccessRequestRefusal::State(status))) => status,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it went on"),
    }
}

fn everything(page: i64) -> Listing {
    Listing::unfiltered(Sort::ascending("id"), PageRequest::new(page, 5, 100).unwrap())
}

database_tests! {
    async fn an_agent_has_a_role_of_its_own_and_no_login(db: TestDatabase) {
        let staff_fixture = staff_fixture(&db).await;
        let agent = made(&db, staff_fixture, "Bot", &[VIEW, EDIT]).await;
        assert_eq!(AgentRepository::find(&db.database, agent.id).await.unwrap(), Some(ProjectScoped::new(staff_fixture.0, agent.clone())));
        assert_eq!((agent.name.as_str(), agent.description.as_deref()), ("Bot", Some("counts")));
        assert_eq!(agent.creator.unwrap().name.as_str(), "Анна Ёлкина");
        let names: Vec<&str> = agent.permissions.iter().map(|granted| granted.name.as_str()).collect();
        assert_eq!(names, ["view-orders", "edit-orders"]);
        let record = db.database.employee(agent.id).await.unwrap().unwrap();
        assert_eq!((record.first_name.as_str(), record.role.description.as_deref()), ("Bot", Some("counts")));
        assert!(AgentRepository::find(&db.database, staff_fixture.1).await.unwrap().is_none(), "employees are no agents");
        let known = db.database.known_permissions().await.unwrap();
        assert_eq!(known.values().copied().collect::<BTreeSet<_>>(), Permission::all().collect());
    }

    async fn a_list_costs_the_same_however_long_it_is(db: TestDatabase) {
        let (staff_fixture, other) = (staff_fixture(&db).await, staff_fixture(&db).await);
        made(&db, other, "Foreign", &[VIEW]).await;
        let mut costs = BTreeSet::new();
        for count in 1..=12_u64 {
            made(&db, staff_fixture, &format!("Bot {count}"), &[VIEW, EDIT]).await;
            let before = db.statements();
            let page = db.database.list(staff_fixture.0, everything(1)).await.unwrap();
            costs.insert(db.statements() - before);
            assert_eq!((page.total, page.items.len()), (count, usize::try_from(count.min(5)).unwrap()));
        }
        assert_eq!(costs.len(), 1, "{costs:?}");
        let last = db.database.list(staff_fixture.0, everything(3)).await.unwrap();
        assert_eq!(last.items.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(), ["Bot 11", "Bot 12"]);
    }

    async fn changes_of_an_agent_apply_to_its_tokens_at_once(db: TestDatabase) {
        let agent = made(&db, staff_fixture(&db).await, "Bot", &[VIEW, EDIT]).await;
        let whole = db.database.insert_token(token(&agent, None)).await.unwrap().id;
        let part = db.database.insert_token(token(&agent, Some(&[EDIT]))).await.unwrap().id;
        assert_eq!(opens(&db.database, whole).await, Some(set(&[VIEW, EDIT])));
        assert_eq!(opens(&db.database, part).await, Some(set(&[EDIT])));

        let shrunk = AgentUpdate {
            name: Edit::Set(Name::parse("Clerk").unwrap()),
            description: Edit::Set(None),
            permissions: Edit::Set(set(&[VIEW])),
            ..update(&agent, &[VIEW, EDIT])
        };
        let shrunk = AgentRepository::update(&db.database, shrunk).await.unwrap();
        assert_eq!((shrunk.name.as_str(), shrunk.description.as_deref(), shrunk.permissions.len()), ("Clerk", None, 1));
        assert_eq!(shrunk.updated_at, minutes(1));
        assert_eq!(opens(&db.database, whole).await, Some(set(&[VIEW])));
        assert_eq!(opens(&db.database, part).await, Some(set(&[])));

        let paused = AgentUpdate { is_banned: Edit::Set(true), ..update(&agent, &[VIEW]) };
        assert!(AgentRepository::update(&db.database, paused).await.unwrap().is_banned);
        assert_eq!(opens(&db.database, whole).await, None);
    }

    async fn callers_with_fewer_permissions_than_the_agent_change_nothing(db: TestDatabase) {
        let staff_fixture = staff_fixture(&db).await;
        let agent = made(&db, staff_fixture, "Bot", &[VIEW, EDIT]).await;
        let paused = AgentUpdate { is_banned: Edit::Set(true), ..update(&agent, &[VIEW]) };
        let refused = AgentRepository::update(&db.database, paused).await;
        assert!(matches!(refused, Err(AgentError::Refused(AgentRefusal::PermissionsNotHeld(denied))) if denied.missing == [EDIT.to_string()]));
        let refused = AgentRepository::delete(&db.database, agent.id, set(&[EDIT]), minutes(1)).await;
        assert!(matches!(refused, Err(AgentError::Refused(AgentRefusal::PermissionsNotHeld(denied))) if denied.missing == [VIEW.to_string()]));
        let refused = db.database.insert_token(NewAgentToken { held: set(&[VIEW]), ..token(&agent, None) }).await;
        assert!(matches!(refused, Err(AgentError::Refused(AgentRefusal::PermissionsNotHeld(_)))));
        let refused = db.database.insert_token(token(&agent, Some(&[Permission::view(Resource::Brands)]))).await;
        assert!(matches!(refused, Err(AgentError::Refused(AgentRefusal::ExceedsAgent(_)))));
        assert_eq!(AgentRepository::find(&db.database, agent.id).await.unwrap(), Some(ProjectScoped::new(staff_fixture.0, agent.clone())));
        assert!(db.database.tokens(agent.id).await.unwrap().is_empty());
    }

    async fn a_deleted_agent_is_hidden_and_its_tokens_are_dead(db: TestDatabase) {
        let staff_fixture = staff_fixture(&db).await;
        let agent = made(&db, staff_fixture, "Bot", &[VIEW]).await;
        let id = db.database.insert_token(token(&agent, None)).await.unwrap().id;
        AgentRepository::delete(&db.database, agent.id, set(&[VIEW]), minutes(1)).await.unwrap();
        assert_eq!(opens(&db.database, id).await, None);
        assert!(AgentRepository::find(&db.database, agent.id).await.unwrap().is_none());
        assert_eq!(db.database.list(staff_fixture.0, everything(1)).await.unwrap().total, 0);
        let gone = |outcome: Result<(), AgentError>| assert!(matches!(outcome, Err(AgentError::NotFound)));
        gone(db.database.insert_token(token(&agent, None)).await.map(|_| ()));
        gone(AgentRepository::update(&db.database, update(&agent, &[VIEW])).await.map(|_| ()));
        gone(AgentRepository::delete(&db.database, agent.id, set(&[VIEW]), minutes(1)).await);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM users WHERE kind = 'agent'").await, 1);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM access_tokens").await, 0);
    }

    async fn a_deletion_leaves_no_token_however_many_are_issued_meanwhile(db: TestDatabase) {
        let agent = made(&db, staff_fixture(&db).await, "Bot", &[VIEW]).await;
        let calls = (0..12).map(|index| {
            let (database, agent) = (db.database.clone(), agent.clone());
            tokio::spawn(async move {
                if index == 6 {
                    AgentRepository::delete(&database, agent.id, set(&[VIEW]), minutes(1)).await.unwrap();
                } else {
                    let _ = database.insert_token(token(&agent, None)).await;
                }
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM access_tokens").await, 0);
    }

    async fn an_approved_request_becomes_an_agent(db: TestDatabase) {
        let staff_fixture = staff_fixture(&db).await;
        AccessRequestRepository::insert(&db.database, request(1)).await.unwrap();
        let before = db.statements();
        let stored = AccessRequestRepository::find(&db.database, Uuid::from_u128(1)).await.unwrap().unwrap();
        assert_eq!(db.statements() - before, 1);
        assert_eq!((stored.fingerprint.as_str(), stored.request.project_id), ("s", None));
        assert_eq!((stored.request.requested, stored.request.stage), (set(&[VIEW, EDIT]), Stage::Pending));
        assert_eq!(state(db.database.consume(consumption(1, minutes(1))).await), RequestStatus::Pending);

        let wider = Approval { permissions: Some(set(&[Permission::view(Resource::Brands)])), ..approval(1, staff_fixture, "a") };
        let reason = |outcome: Result<_, AccessRequestError>| match outcome {
            Err(AccessRequestError::Refused(refusal)) => refusal,
            outcome => panic!("{outcome:?}"),
        };
        assert!(matches!(reason(db.database.approve(wider).await), AccessRequestRefusal::NotRequested(_)));
        let poor = Approval { held: set(&[VIEW]), ..approval(1, staff_fixture, "a") };
        assert!(matches!(reason(db.database.approve(poor).await), AccessRequestRefusal::PermissionsNotHeld(_)));
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM users WHERE kind = 'agent'").await, 0);

        let part = Approval { permissions: Some(set(&[VIEW])), held: set(&[VIEW]), ..approval(1, staff_fixture, "a") };
        let (approved, agent) = db.database.approve(part).await.unwrap();
        assert_eq!((approved.stage, approved.project_id), (Stage::Approved(agent.id), Some(staff_fixture.0)));
        assert_eq!((approved.permissions, approved.requested), (set(&[VIEW]), set(&[VIEW, EDIT])));
        assert_eq!((agent.name.as_str(), agent.description.as_deref(), agent.permissions.len()), ("Bot", Some("to help"), 1));
        assert_eq!(agent.creator.as_ref().unwrap().id, staff_fixture.1);

        let (id, fetched) = db.database.consume(consumption(1, minutes(29))).await.unwrap();
        assert_eq!((fetched, opens(&db.database, id).await), (agent, Some(set(&[VIEW]))));
        assert_eq!(state(db.database.consume(consumption(1, minutes(29))).await), RequestStatus::Consumed);
        assert_eq!(state(db.database.decline(refusal(1, staff_fixture)).await), RequestStatus::Consumed);
    }

    async fn a_project_lists_the_requests_that_it_has_handled(db: TestDatabase) {
        let (own, other) = (staff_fixture(&db).await, staff_fixture(&db).await);
        for id in 1..=5 {
            AccessRequestRepository::insert(&db.database, request(id)).await.unwrap();
        }
        db.database.review(review(1, own, None)).await.unwrap();
        db.database.approve(approval(2, own, "a")).await.unwrap();
        db.database.decline(refusal(3, own)).await.unwrap();
        db.database.decline(refusal(4, other)).await.unwrap();
        let page = |number| PageRequest::new(number, 2, 100).unwrap();
        let before = db.statements();
        let first = db.database.handled(own.0, page(1)).await.unwrap();
        let cost = db.statements() - before;
        let ids: Vec<_> = first.items.iter().map(|request| request.public_id.as_u128()).collect();
        assert_eq!((ids, first.total), (vec![3, 2], 3));
        let before = db.statements();
        let last = db.database.handled(own.0, page(2)).await.unwrap();
        assert_eq!((db.statements() - before, last.items.len()), (cost, 1));
        assert_eq!((last.items[0].public_id, &last.items[0].stage), (Uuid::from_u128(1), &Stage::Pending));
        assert_eq!(db.database.handled(other.0, page(1)).await.unwrap().total, 1);
    }

    async fn a_request_belongs_to_the_project_that_reviewed_it(db: TestDatabase) {
        let (own, other) = (staff_fixture(&db).await, staff_fixture(&db).await);
        AccessRequestRepository::insert(&db.database, request(1)).await.unwrap();
        let reviewed = db.database.review(review(1, own, Some(&[VIEW]))).await.unwrap();
        assert_eq!((reviewed.project_id, reviewed.permissions), (Some(own.0), set(&[VIEW])));
        for refused in [
            db.database.review(review(1, other, None)).await.map(|_| ()),
            db.database.approve(approval(1, other, "a")).await.map(|_| ()),
            db.database.decline(refusal(1, other)).await.map(|_| ()),
            db.database.review(review(2, own, None)).await.map(|_| ()),
            db.database.consume(consumption(2, START)).await.map(|_| ()),
        ] {
            assert!(matches!(refused, Err(AccessRequestError::NotFound)));
        }
        let again = db.database.review(review(1, own, Some(&[VIEW, EDIT]))).await;
        assert!(matches!(again, Err(AccessRequestError::Refused(AccessRequestRefusal::NotRequested(foreign))) if foreign == set(&[EDIT])));
        let declined = db.database.decline(refusal(1, own)).await.unwrap();
        assert_eq!(declined.stage, Stage::Declined(Some(Reason::parse("no").unwrap())));
        assert_eq!(state(db.database.approve(approval(1, own, "a")).await), RequestStatus::Declined);
        assert_eq!(state(db.database.consume(consumption(1, minutes(2))).await), RequestStatus::Declined);
    }

    async fn requests_end_and_are_cleaned_away(db: TestDatabase) {
        let staff_fixture = staff_fixture(&db).await;
        for id in 1..=4 {
            AccessRequestRepository::insert(&db.database, request(id)).await.unwrap();
        }
        db.database.approve(approval(1, staff_fixture, "a1")).await.unwrap();
        assert_eq!(state(db.database.consume(consumption(1, minutes(30))).await), RequestStatus::Expired);
        let late = Approval { at: minutes(30), ..approval(2, staff_fixture, "a2") };
        assert_eq!(state(db.database.approve(late).await), RequestStatus::Expired);

        let (_, agent) = db.database.approve(approval(3, staff_fixture, "a3")).await.unwrap();
        let all: Vec<Permission> = Permission::all().collect();
        AgentRepository::delete(&db.database, agent.id, set(&all), minutes(1)).await.unwrap();
        assert_eq!(state(db.database.consume(consumption(3, minutes(2))).await), RequestStatus::Declined);

        AccessRequestRepository::insert(&db.database, NewAccessRequest { expires_at: minutes(31), ..request(5) }).await.unwrap();
        let sweep = async |at: DateTime<Utc>| {
            let swept = SWEPT_TABLES.iter().find(|swept| swept.table == "agent_access_requests").unwrap();
            db.database.sweep(swept, at + TimeDelta::days(30), TimeDelta::days(30)).await.unwrap()
        };
        assert_eq!(sweep(minutes(29)).await, 0);
        assert_eq!(sweep(minutes(30)).await, 4);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM agent_access_requests").await, 1);
    }
}
