//! Mails to employees about calls of agents, from the proposal to the mail.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_auth::APPROVAL_MAIL_INTERVAL;
use kontor_auth::model::{AgentActionDecision, AgentActionEvent, ApprovalMail, NewAgentAction};
use kontor_auth::ports::{AgentActionRepository, ApprovalMailQueue};
use kontor_kernel::Permission;

use crate::agent_actions::AgentFixture;
use crate::fixtures;

fn after(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

async fn propose(db: &TestDatabase, fixture: AgentFixture, id: u128) {
    db.database.propose(fixture.call(id, &format!("hash {id}"))).await.unwrap();
}

async fn lease(db: &TestDatabase, owner: &str, at: DateTime<Utc>) -> Option<ApprovalMail> {
    ApprovalMailQueue::lease(&db.database, owner, at, at + TimeDelta::seconds(30)).await.unwrap()
}

async fn release(db: &TestDatabase, mail: &ApprovalMail, owner: &str, settled: i64, next: DateTime<Utc>) {
    ApprovalMailQueue::release(&db.database, mail, owner, settled, next).await.unwrap();
}

database_tests! {
    async fn proposals_of_a_minute_are_one_mail_that_one_worker_has(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        join_all((1..=8).map(|id| propose(&db, fixture, id))).await;
        // An equal call is the same proposal.
        db.database.propose(fixture.call(9, "hash 1")).await.unwrap();
        assert_eq!(lease(&db, "early", after(59)).await, None);
        let owners: Vec<String> = (0..8).map(|number| format!("worker {number}")).collect();
        let leased = join_all(owners.iter().map(|owner| lease(&db, owner, after(60)))).await;
        let mut leased = owners.iter().zip(leased).filter_map(|(owner, mail)| Some((owner, mail?)));
        let (owner, mail) = leased.next().unwrap();
        assert!(leased.next().is_none(), "one has it");
        assert_eq!((mail.project_id, mail.user_id, mail.wanted, mail.calls.len()), (fixture.project, fixture.admin, 8, 8));
        assert!(mail.to.as_ref().unwrap().as_str().ends_with("@x.ru"));
        assert_eq!(mail.permissions, Permission::all().collect());
        let call = &mail.calls[0];
        assert_eq!((call.operation.as_str(), call.expires_at), ("POST /api/brands", after(30 * 60)));
        assert!(call.agent.starts_with("bot-"), "{}", call.agent);
        release(&db, &mail, "another worker", mail.wanted, after(61)).await;
        assert_eq!(lease(&db, "late", after(62)).await, None, "it is still leased");
        release(&db, &mail, owner, mail.wanted, after(61) + APPROVAL_MAIL_INTERVAL).await;
        assert_eq!(lease(&db, "late", after(3_600)).await, None, "nothing is new");
    }

    async fn an_employee_gets_the_next_mail_after_a_pause(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        propose(&db, fixture, 1).await;
        let mail = lease(&db, "me", after(60)).await.unwrap();
        // Proposed while the mail is sent.
        propose(&db, fixture, 2).await;
        let next = after(61) + APPROVAL_MAIL_INTERVAL;
        release(&db, &mail, "me", mail.wanted, next).await;
        propose(&db, fixture, 3).await;
        assert_eq!(lease(&db, "me", next - TimeDelta::seconds(1)).await, None);
        let mail = lease(&db, "me", next).await.unwrap();
        assert_eq!((mail.wanted, mail.calls.len()), (2, 3));
        // The mail server is away: nothing is settled.
        release(&db, &mail, "me", 0, next + TimeDelta::seconds(60)).await;
        assert_eq!(lease(&db, "me", next + TimeDelta::seconds(59)).await, None);
        let mail = lease(&db, "me", next + TimeDelta::seconds(60)).await.unwrap();
        release(&db, &mail, "me", mail.wanted, next).await;
        // A later proposal waits for others again.
        let later = NewAgentAction { proposed_at: after(5_000), expires_at: after(6_000), ..fixture.call(4, "hash 4") };
        db.database.propose(later).await.unwrap();
        assert_eq!(lease(&db, "me", after(5_059)).await, None);
        assert!(lease(&db, "me", after(5_060)).await.is_some());
    }

    async fn decided_calls_and_banned_employees_are_left_out(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        propose(&db, fixture, 1).await;
        propose(&db, fixture, 2).await;
        let decision = AgentActionDecision { by: fixture.admin, at: after(1), reason: None };
        let first = fixture.call(1, "").public_id;
        db.database.decide(first, AgentActionEvent::Refuse, decision, i64::MAX).await.unwrap();
        fixtures::run(&db, format!("UPDATE users SET is_banned = TRUE WHERE id = {}", fixture.admin)).await;
        let mail = lease(&db, "me", after(60)).await.unwrap();
        assert_eq!((mail.to.as_ref(), mail.permissions.len()), (None, 0));
        let open: BTreeSet<_> = mail.calls.iter().map(|call| call.public_id).collect();
        assert_eq!(open, [fixture.call(2, "").public_id].into());
        release(&db, &mail, "me", mail.wanted, after(61)).await;
        propose(&db, fixture, 3).await;
        assert_eq!(lease(&db, "me", after(10_000)).await, None, "a banned employee is not in the queue");
    }

    async fn only_approvers_of_the_project_are_mailed(db: TestDatabase) {
        let (fixture, other) = (AgentFixture::of(&db).await, AgentFixture::of(&db).await);
        propose(&db, fixture, 1).await;
        assert_eq!(lease(&db, "me", after(60)).await.unwrap().user_id, fixture.admin);
        assert_eq!(lease(&db, "me", after(60)).await, None);
        let role = format!("(SELECT role_id FROM users WHERE id = {})", other.admin);
        fixtures::run(&db, format!("UPDATE roles SET is_owner = FALSE WHERE id = {role}")).await;
        propose(&db, other, 2).await;
        assert_eq!(lease(&db, "me", after(60)).await, None, "the role lacks the permission");
        let grant = "SELECT id FROM permissions WHERE name = 'approve-agent-actions'";
        let granted = format!(
            "INSERT INTO role_permissions (project_id, role_id, permission_id)
                 SELECT project_id, id, ({grant}) FROM roles WHERE id = {role}"
        );
        fixtures::run(&db, granted).await;
        propose(&db, other, 3).await;
        let mail = lease(&db, "me", after(60)).await.unwrap();
        assert_eq!((mail.user_id, mail.permissions), (other.admin, [Permission::APPROVE_AGENT_ACTIONS].into()));
    }

    async fn a_mail_that_cannot_be_read_is_parked(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        propose(&db, fixture, 1).await;
        fixtures::run(&db, "UPDATE agent_actions SET public_id = 'x'".to_owned()).await;
        assert_eq!(lease(&db, "me", after(60)).await, None);
        let parked = db.database.parked().await.unwrap();
        assert_eq!((parked.len(), parked[0].table), (1, "approval_mails"));
    }
}
