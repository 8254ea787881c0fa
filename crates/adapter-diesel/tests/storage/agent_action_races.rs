//! Calls of agents that are approved, refused, continued, revoked and overtaken at the same time: each has its effect at
//! most once, and only by moves of the table.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::RunQueryDsl;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{
    Abort, AnyConnection, Database, IdempotentRequest, RequestContext, VersionedRecord, VersionedRequest, VersionedRow,
    database_tests,
};
use kontor_auth::model::{
    AGENT_ACTION_LEASE, AGENT_ACTION_LIFETIME, AGENT_ACTION_MOVES, AgentAction, AgentActionDecision, AgentActionEvent,
    AgentActionState, AgentResult, NewAgentAction, NewAgentToken, RoleChoice,
};
use kontor_auth::ports::{AgentActionRepository, AgentRepository, StaffRepository, TokenRepository};
use kontor_kernel::history::Author;
use kontor_kernel::{Name, Permission, RecordRepository, Stamp, StoreError, TokenId, UserId, Word};
use kontor_organization::model::{Department, DepartmentDraft};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::agent_actions::AgentFixture;
use crate::idempotency::claim;
use crate::staff;

/// Rounds of a run without `AGENT_RACES`.
const ROUNDS: u64 = 150;
/// Code of a failure whose effect is not known.
const UNKNOWN: &str = "agent_call_interrupted";
/// Note of every move between two states.
const NOTES: &str = "CREATE TABLE moves (before_it TEXT NOT NULL, after_it TEXT NOT NULL);";

#[expect(clippy::disallowed_methods, reason = "a test that is told how long to run")]
fn rounds() -> u64 {
    std::env::var("AGENT_RACES").ok().map_or(ROUNDS, |text| text.parse().unwrap())
}

/// Use case that takes part in a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Approve(UserId),
    Refuse,
    /// Decides at the end of the period.
    DecideLate(AgentActionEvent),
    /// Continues an execution after its lease, as the worker and a repeated call do.
    Continue,
    Revoke,
    Edit,
    /// Sends the same call again.
    Repeat,
    Report,
}

/// Point at which the process of the first execution dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    Never,
    BeforeEffect,
    BeforeResult,
}

/// Results of use cases.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Seen {
    decided: i64,
    late: i64,
    acted: i64,
    edited: i64,
}

/// A proposed call that changes a department.
#[derive(Clone)]
struct Race {
    database: Database,
    fixture: AgentFixture,
    call: NewAgentAction,
    department: i64,
    version: i64,
    death: Death,
}

fn change(connection: &mut AnyConnection, department: i64) -> Result<(), Abort<StoreError>> {
    let statement = format!("UPDATE departments SET version = version + 1 WHERE id = {department}");
    diesel::sql_query(statement).execute(connection)?;
    Ok(())
}

fn result(status: u16, code: Option<&str>) -> AgentResult {
    AgentResult { status, code: code.map(str::to_owned), body: None }
}

impl Race {
    fn row(&self) -> VersionedRow {
        VersionedRecord::Department.row(self.fixture.project, &[self.department])
    }

    async fn stored(&self) -> AgentAction {
        let found = AgentActionRepository::find(&self.database, self.call.public_id).await.unwrap();
        found.unwrap().within(self.fixture.project).unwrap()
    }

    async fn has_token(&self) -> bool {
        self.database.staff_token(self.call.token_id).await.unwrap().is_some()
    }

    async fn has_key(&self, at: DateTime<Utc>) -> bool {
        self.database.find_key(&self.call.key(), at).await.unwrap().is_some()
    }

    /// Executes the call in the order of the gate: token, key, version and effect. Returns 1 if it had the effect.
    async fn execute(&self, attempt: i32, at: DateTime<Utc>, death: Death) -> i64 {
        if death == Death::BeforeEffect {
            return 0;
        }
        let (result, acted) = if !self.has_token().await {
            (result(401, None), 0)
        } else if self.has_key(at).await {
            (result(200, None), 0)
        } else {
            let keyed = IdempotentRequest::new(claim(&self.call.key(), at));
            let versioned = VersionedRequest::new(self.row(), Some(self.version));
            let context = RequestContext {
                keyed: Some(keyed.clone()),
                versioned: Some(versioned.clone()),
                ..RequestContext::default()
            };
            let department = self.department;
            let work = move |connection: &mut AnyConnection| change(connection, department);
            match self.database.for_request(context).write(work).await {
                Ok(()) => (result(200, None), 1),
                Err(_) if versioned.is_stale() => (result(412, None), 0),
                // Another execution holds the key: the outcome is not known here.
                Err(_) if keyed.lost_key() => return 0,
                Err(error) => panic!("{error}"),
            }
        };
        // A failure of a later attempt does not tell whether the first one had the effect.
        let is_known = result.status < 400 || attempt == 1;
        if is_known && death == Death::Never {
            self.database.finish(self.call.public_id, attempt, result, at).await.unwrap();
        }
        acted
    }

    async fn decide(&self, event: AgentActionEvent, by: UserId, at: DateTime<Utc>) -> bool {
        let decision = AgentActionDecision { by, at, reason: None };
        self.database.decide(self.call.public_id, event, decision, i64::MAX).await.is_ok()
    }

    async fn take(self, step: Step) -> Seen {
        let soon = self.call.proposed_at + TimeDelta::seconds(1);
        let mut seen = Seen::default();
        match step {
            Step::Approve(by) => {
                if self.decide(AgentActionEvent::Approve, by, soon).await {
                    seen.decided = 1;
                    seen.acted = self.execute(1, soon, self.death).await;
                }
            }
            Step::Refuse => {
                seen.decided = i64::from(self.decide(AgentActionEvent::Refuse, self.fixture.admin, soon).await);
            }
            Step::DecideLate(event) => {
                seen.late = i64::from(self.decide(event, self.fixture.admin, self.call.expires_at).await);
            }
            Step::Continue => {
                let at = soon + AGENT_ACTION_LEASE;
                for _ in 0..4 {
                    if let Ok(action) = self.database.start(self.call.public_id, at).await {
                        let attempt = action.execution.unwrap().attempts;
                        seen.acted += self.execute(attempt, at, Death::Never).await;
                    }
                }
            }
            Step::Revoke => {
                self.database.delete_token(self.fixture.agent, self.call.token_id).await.unwrap();
            }
            Step::Edit => {
                let department = self.department;
                let work = move |connection: &mut AnyConnection| change(connection, department);
                self.database.write(work).await.unwrap();
                seen.edited = 1;
            }
            Step::Repeat => {
                let again =
                    NewAgentAction { public_id: Uuid::from_u128(self.call.public_id.as_u128() + 1), ..self.call };
                self.database.propose(again).await.unwrap();
            }
            Step::Report => self.database.report(self.call.public_id, soon).await.unwrap(),
        }
        seen
    }

    /// Continues an approved call until its outcome is stored. The period of the approval is over, so only the outcome
    /// is looked up.
    async fn settle(&self) -> AgentAction {
        let at = self.call.expires_at + AGENT_ACTION_LEASE;
        if self.stored().await.stored == AgentActionState::Approved {
            let attempt = self.database.start(self.call.public_id, at).await.unwrap().execution.unwrap().attempts;
            let result = if !self.has_token().await {
                result(401, Some(UNKNOWN))
            } else if self.has_key(at).await {
                result(200, None)
            } else {
                result(409, Some("agent_call_decided"))
            };
            self.database.finish(self.call.public_id, attempt, result, at).await.unwrap();
        }
        self.stored().await
    }
}

/// Makes the database note every move of a call.
async fn note_moves(db: &TestDatabase) {
    let trigger = match db.kind {
        Kind::Sqlite => {
            "CREATE TRIGGER note_move AFTER UPDATE OF state ON agent_actions WHEN OLD.state <> NEW.state BEGIN INSERT INTO \
             moves VALUES (OLD.state, NEW.state); END;"
        }
        Kind::Postgres => {
            "CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO moves VALUES \
             (OLD.state, NEW.state); RETURN NULL; END $$; CREATE TRIGGER note_move AFTER UPDATE OF state ON agent_actions \
             FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION note_move();"
        }
    };
    db.run(format!("{NOTES} {trigger}")).await;
}

async fn moves(db: &TestDatabase) -> BTreeSet<String> {
    let query =
        "SELECT before_it || ' ' || after_it AS name, count(*) AS number FROM moves GROUP BY before_it, after_it";
    db.named_numbers(query.to_owned()).await.into_iter().map(|(name, _)| name).collect()
}

async fn new_token(db: &TestDatabase, fixture: AgentFixture, at: DateTime<Utc>) -> TokenId {
    let new = NewAgentToken {
        agent: fixture.agent,
        held: Permission::all().collect(),
        name: Name::parse("Race").unwrap(),
        abilities: None,
        fingerprint: "f".to_owned(),
        created_at: at,
        expires_at: at + TimeDelta::days(1),
    };
    db.database.insert_token(new).await.unwrap().id
}

async fn new_department(db: &TestDatabase, fixture: AgentFixture) -> i64 {
    let stamp = Stamp { project_id: fixture.project, author: Author::System, at: DateTime::UNIX_EPOCH };
    let draft = DepartmentDraft { name: Name::parse("Sales").unwrap(), description: None, branch_id: None };
    RecordRepository::<Department>::insert(&db.database, stamp, draft).await.unwrap().id.get()
}

database_tests! {
    async fn a_call_acts_at_most_once_in_any_race(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        let second = staff::employee(fixture.project, "second", RoleChoice::Owner);
        let second = db.database.insert_employee(second).await.unwrap();
        let department = new_department(&db, fixture).await;
        note_moves(&db).await;
        let mut ends = BTreeSet::new();
        for round in 0..rounds() {
            // Earlier approvals do not count toward the hour of these.
            let at = DateTime::UNIX_EPOCH + TimeDelta::hours(2 * i64::try_from(round).unwrap());
            let call = NewAgentAction {
                token_id: new_token(&db, fixture, at).await,
                proposed_at: at,
                expires_at: at + AGENT_ACTION_LIFETIME,
                ..fixture.call(u128::from(round) * 2, &format!("hash {round}"))
            };
            db.database.propose(call.clone()).await.unwrap();
            let death = [Death::Never, Death::BeforeEffect, Death::BeforeResult][usize::try_from(round % 3).unwrap()];
            let mut race = Race { database: db.database.clone(), fixture, call, department, version: 0, death };
            race.version = db.database.version_of(race.row()).await.unwrap().unwrap();

            let mut steps = vec![
                Step::Approve(fixture.admin),
                Step::Continue,
                Step::Refuse,
                Step::DecideLate(AgentActionEvent::Approve),
                Step::Repeat,
                Step::Approve(second),
                Step::Continue,
                Step::DecideLate(AgentActionEvent::Refuse),
                Step::Report,
            ];
            steps.extend((round % 4 == 1).then_some(Step::Revoke));
            steps.extend((round % 5 == 2).then_some(Step::Edit));
            let first = usize::try_from(round).unwrap() % steps.len();
            steps.rotate_left(first);
            let mut running = JoinSet::new();
            for step in steps {
                running.spawn(race.clone().take(step));
            }
            let mut sum = Seen::default();
            for seen in running.join_all().await {
                sum.decided += seen.decided;
                sum.late += seen.late;
                sum.acted += seen.acted;
                sum.edited += seen.edited;
            }
            assert_eq!((sum.decided, sum.late), (1, 0), "round {round}: one decision, and none too late");
            let left = race.settle().await;
            let version = db.database.version_of(race.row()).await.unwrap().unwrap();
            assert_eq!(version - race.version, sum.acted + sum.edited, "round {round}: {sum:?}");
            let result = left.result();
            let is_unknown = result.is_some_and(|result| result.code.as_deref() == Some(UNKNOWN));
            match result.map(|result| result.status) {
                None => assert_eq!((left.stored, sum.acted), (AgentActionState::Refused, 0), "round {round}"),
                Some(200) => assert_eq!(sum.acted, 1, "round {round}: {left:?}"),
                Some(_) => assert!(sum.acted == 0 || is_unknown && sum.acted == 1, "round {round}: {left:?}"),
            }
            ends.insert(left.stored.word());
            db.database.delete_token(fixture.agent, race.call.token_id).await.unwrap();
        }
        let allowed: BTreeSet<String> = AGENT_ACTION_MOVES
            .iter()
            .filter(|step| step.from != step.to)
            .map(|step| format!("{} {}", step.from.word(), step.to.word()))
            .collect();
        let made = moves(&db).await;
        assert!(made.is_subset(&allowed), "{made:?}");
        assert!(made.contains("proposed approved") && made.contains("approved executed"), "{made:?}");
        assert!(made.contains("proposed refused") && ends.len() > 1, "{made:?} {ends:?}");
    }
}
