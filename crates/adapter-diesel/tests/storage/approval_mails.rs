//! Mails to employees about calls of agents, from the proposal to the mail.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_auth::model::ApprovalMail;
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

database_tests! {
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
