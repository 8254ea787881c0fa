//! Imports whose author loses the right to them while they wait or run.

use chrono::TimeDelta;
use kontor_adapter_diesel::database_tests;
use kontor_auth::model::{AgentPolicy, NewAgentToken, RoleChoice};
use kontor_auth::ports::{AgentActionRepository, AgentRepository, StaffRepository};
use kontor_catalog::bulk::{JobPhase, JobState, NewJob, Progress, RunOutcome};
use kontor_catalog::spreadsheet::ImportKind;
use kontor_kernel::{JobId, Name, Permission, Resource, TokenId, UserId};

use crate::agents::made;
use crate::jobs::{ImportFixture, STRICT, at, new_job};
use crate::staff::employee;

const DENIED: &str = "the author of the job is no longer allowed to do this";

/// Queues an import of 1,100 items for an author. The second part of the file has 100 of them.
async fn sent(fixture: &ImportFixture<'_>, user: UserId, token: Option<TokenId>, name: &str) -> JobId {
    let rows: Vec<String> = (0..1_100).map(|number| format!("{name}-{number};Item {number}")).collect();
    let text = format!("article;name\n{}\n", rows.join("\n"));
    let job = NewJob { user_id: Some(user), token_id: token, ..new_job(ImportKind::Nomenclatures, STRICT, &text) };
    fixture.jobs().insert(fixture.stock_fixture.project, job, 20, at()).await.unwrap().id
}

/// Works on a job to its end. Returns its state, the reason of its failure and the number of its created items.
async fn ended(fixture: &ImportFixture<'_>, id: JobId) -> (JobState, Option<String>, u64) {
    let leased = fixture.take("worker").await.unwrap();
    assert_eq!(leased.job.id, id);
    let outcome = fixture.work(leased, |_| true).await.unwrap();
    let job = fixture.job(id).await;
    assert_eq!(outcome, RunOutcome::Ended(job.state));
    (job.state, job.failure, job.tally.created)
}

fn denied(imported: &str, created: u64) -> (JobState, Option<String>, u64) {
    (JobState::Failed, Some(format!("{DENIED}; {imported}")), created)
}

database_tests! {
    async fn an_import_ends_where_its_author_is_banned(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let admin = employee(fixture.stock_fixture.project, "boss", RoleChoice::Owner);
        let admin = db.database.insert_employee(admin).await.unwrap();
        let whole = sent(&fixture, admin, None, "A").await;
        assert_eq!(ended(&fixture, whole).await, (JobState::Succeeded, None, 1_100));

        let half = sent(&fixture, admin, None, "B").await;
        let leased = fixture.take("first").await.unwrap();
        let until_written = |progress: Progress| progress.phase == JobPhase::Checking || progress.done_rows == 0;
        assert_eq!(fixture.work(leased, until_written).await.unwrap(), RunOutcome::Stopped);
        fixture.stock_fixture.run(format!("UPDATE users SET is_banned = TRUE, version = version + 1 WHERE id = {admin}")).await;
        assert_eq!(ended(&fixture, half).await, denied("1000 rows were imported", 1_000));

        let late = sent(&fixture, admin, None, "C").await;
        assert_eq!(ended(&fixture, late).await, denied("nothing was imported", 0));
    }

    async fn an_agent_needs_its_token_its_permission_and_a_policy_that_lets_it_write(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let project = fixture.stock_fixture.project;
        let admin = db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap();
        let permissions = [Permission::edit(Resource::Nomenclatures)];
        let agent = made(&db, (project, admin), "bot", &permissions).await.id;
        let new = NewAgentToken {
            agent,
            held: Permission::all().collect(),
            name: Name::parse("Import").unwrap(),
            abilities: None,
            fingerprint: "f".to_owned(),
            created_at: at(),
            expires_at: at() + TimeDelta::days(1),
        };
        let token = db.database.insert_token(new).await.unwrap().id;
        let run = async |name: &str| {
            let id = sent(&fixture, agent, Some(token), name).await;
            ended(&fixture, id).await
        };
        assert_eq!(run("A").await, (JobState::Succeeded, None, 1_100));

        let refusing = AgentPolicy { refuses_writes: true, ..AgentPolicy::default() };
        let stored = db.database.set_policy(project, refusing, admin, at()).await.unwrap();
        assert_eq!(run("B").await, denied("nothing was imported", 0));
        let allowing = AgentPolicy { refuses_writes: false, ..stored };
        db.database.set_policy(project, allowing, admin, at()).await.unwrap();
        assert_eq!(run("C").await, (JobState::Succeeded, None, 1_100));

        fixture.stock_fixture.run("UPDATE access_tokens SET abilities = '[\"view-brands\"]'".to_owned()).await;
        assert_eq!(run("D").await, denied("nothing was imported", 0));
        fixture.stock_fixture.run("UPDATE access_tokens SET abilities = NULL".to_owned()).await;
        let granted = "DELETE FROM role_permissions WHERE role_id IN (SELECT role_id FROM users WHERE kind = 'agent')";
        fixture.stock_fixture.run(granted.to_owned()).await;
        assert_eq!(run("E").await, denied("nothing was imported", 0));
    }

    async fn an_import_ends_with_the_token_of_its_agent(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let project = fixture.stock_fixture.project;
        let admin = db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap();
        let agent = made(&db, (project, admin), "bot", &[Permission::edit(Resource::Nomenclatures)]).await.id;
        let job = sent(&fixture, agent, Some(TokenId::new(999_999).unwrap()), "A").await;
        assert_eq!(ended(&fixture, job).await, denied("nothing was imported", 0));
    }
}
