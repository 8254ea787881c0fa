//! Logins, and deletion of customers.

use chrono::{DateTime, TimeDelta};
use kontor_adapter_diesel::{IdempotentRequest, StoredResponse};
use kontor_auth::model::{AttemptChange, CodeRedemption, NewCode, RoleChoice, TokenOwner};
use kontor_auth::ports::{
    CallbackAttempts, CodeRepository, CustomerAccounts, MatchedPassword, SignIn, StaffRepository, TokenRepository,
};
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{Name, RecordRepository, Stamp, UserId};
use kontor_organization::model::{Task, TaskDraft, TaskLinks, TaskStatus};

use super::scenarios;
use crate::auth::people;
use crate::staff::employee;
use crate::{callback, fixtures, idempotency, login, task_mails};

const START: DateTime<chrono::Utc> = DateTime::UNIX_EPOCH;

fn code() -> NewCode {
    let expires_at = START + TimeDelta::minutes(5);
    NewCode { fingerprint: "c".to_owned(), attempts: 5, created_at: START, expires_at }
}

scenarios! {
    async fn signed_in_by_code(db, run) {
        let project = fixtures::shop(db).await;
        run.begin(db);
        let found = run.step("find or create", async || db.database.find_or_create(project, &login::phone(), START).await).await;
        run.step("code", async || CodeRepository::replace(&db.database, project, &login::phone(), code()).await).await;
        let redemption = || CodeRedemption {
            project_id: project,
            application_id: login::app(project).application_id,
            contact: login::phone(),
            fingerprint: "c".to_owned(),
            token: login::token("t", START),
        };
        run.step("redeem", async || db.database.redeem(redemption()).await).await;
        run.step("leave", async || db.database.delete_account(project, found, START).await).await;
    }

    async fn wrong_code(db, run) {
        let project = fixtures::shop(db).await;
        db.database.find_or_create(project, &login::phone(), START).await.unwrap();
        CodeRepository::replace(&db.database, project, &login::phone(), code()).await.unwrap();
        run.begin(db);
        let redemption = || CodeRedemption {
            project_id: project,
            application_id: login::app(project).application_id,
            contact: login::phone(),
            fingerprint: "wrong".to_owned(),
            token: login::token("t", START),
        };
        run.step("redeem", async || db.database.redeem(redemption()).await).await;
    }

    async fn signed_in_by_a_call(db, run) {
        let project = callback::shop(db).await;
        let at = callback::at;
        run.begin(db);
        let id = run.step("begin", async || db.database.begin(callback::new(project, "79001234567", "n", 0)).await).await;
        run.step("open", async || db.database.open(id, &callback::check("n"), at(300)).await).await;
        let verified = AttemptChange::Verified { expires_at: at(300) };
        run.step("verify", async || db.database.change(id, verified, at(1)).await).await;
        run.steps_of(2, "exchange", async || db.database.exchange(callback::exchange(project, id, 1, 2)).await).await;
    }

    async fn staff_sign_in_and_out(db, run) {
        let project = fixtures::shop(db).await;
        let user = db.database.insert_employee(login::owner(project, "boss")).await.unwrap();
        run.begin(db);
        let sign_in = || SignIn { user_id: user, proved: MatchedPassword::Own("hash".to_owned()), token: login::token("f", START) };
        let token = run.step("sign in", async || db.database.sign_in(sign_in()).await).await.unwrap();
        run.step("sign out", async || db.database.revoke(TokenOwner::Staff(user), token).await).await;
    }

    async fn employed(db, run) {
        let project = fixtures::shop(db).await;
        run.begin(db);
        run.step("insert", async || db.database.insert_employee(employee(project, "anna", RoleChoice::Owner)).await).await;
    }

    async fn task_given(db, run) {
        let project = fixtures::project(db).await;
        let anna = task_mails::anna(db, project).await;
        run.begin(db);
        let links = TaskLinks { responsible_id: Some(anna), ..TaskLinks::default() };
        let draft = TaskDraft { title: Name::parse("Count").unwrap(), description: None, status: TaskStatus::New, links };
        let tasks: &dyn RecordRepository<Task> = &db.database;
        run.step("insert", async || tasks.insert(Stamp::of_system(project, START), draft.clone()).await).await;
    }

    async fn signed_out_everywhere(db, run) {
        people(db).await;
        run.begin(db);
        run.step("revoke all", async || db.database.revoke_all(TokenOwner::Staff(UserId::new(1).unwrap())).await).await;
    }

    async fn written_under_a_key(db, run) {
        run.begin(db);
        let (claim, now) = (idempotency::claim("k", idempotency::now()), idempotency::now());
        let bound = || db.database.for_request(IdempotentRequest::new(claim.clone()));
        run.step("write", async || bound().record_heartbeat("a", now).await).await;
        let number = Some(claim.number);
        let saved = || StoredResponse { claim: claim.clone(), number, answer: b"done".to_vec() };
        run.step("answer", async || db.database.keep_answers([saved()]).await).await;
    }
}
