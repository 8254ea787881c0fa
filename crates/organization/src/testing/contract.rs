//! Contract of the storage ports of applications, branches with their bank accounts, checkout options, departments,
//! dictionaries, integrations, projects with their settings, shops, staff menus and task mails, for every
//! implementation.
//!
//! Each function checks one promise of the ports and panics if it is broken. An adapter implements [`Fixture`]
//! on a fresh storage and runs every function with a storage of its own. A function names the further ports that it
//! needs.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a broken promise fails the test that runs it")]

mod bank_accounts;
mod checkout;
mod departments;
mod dictionaries;
mod integrations;
mod menus;
mod projects;
mod shops;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::{
    BranchId, DeletableRepository, Line, Name, ProjectId, RecordError, RecordRepository, ShopId, Stamp, UserId,
};

use crate::model::{
    Application, ApplicationDraft, Branch, BranchDraft, Interval, ShopDetails, StaffShop, Task, TaskDraft, TaskLinks,
    TaskMail, TaskStatus, TimeOfDay, TimesChange, TimesRefused, Weekday,
};
use crate::ports::{ApplicationRepository, OpeningTimesStore, TaskMailQueue};
use crate::{ApplicationError, ApplicationRefusal, BranchRefusal, COLLECTION_PERIOD, ShopRefusal};

pub use bank_accounts::*;
pub use checkout::*;
pub use departments::*;
pub use dictionaries::*;
pub use integrations::*;
pub use menus::*;
pub use projects::*;
pub use shops::*;

/// Storage under test.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: ApplicationRepository + DeletableRepository<Branch> + 'static;

    /// Returns the storage under test. At the beginning no mail is due and there are no menus.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns a new project.
    async fn project(&self) -> ProjectId;

    /// Returns a new employee of the project, with an e-mail address.
    async fn employee(&self, project: ProjectId) -> UserId;
}

fn noon() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(12)
}

fn after(seconds: i64) -> DateTime<Utc> {
    noon() + TimeDelta::seconds(seconds)
}

fn stamp(project: ProjectId) -> Stamp {
    Stamp::of_system(project, noon())
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// Token fingerprint that never repeats in a process.
fn token() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("app token {}", NEXT.fetch_add(1, Ordering::Relaxed))
}

async fn branch<F: Fixture>(fixture: &F, project: ProjectId) -> BranchId {
    let draft = BranchDraft { name: name("Branch"), inn: None, kpp: None, address: None, phone: None, email: None };
    RecordRepository::<Branch>::insert(&*fixture.store(), stamp(project), draft).await.unwrap().id
}

async fn application<F: Fixture>(
    fixture: &F,
    project: ProjectId,
    branch_id: BranchId,
    token: &str,
) -> Result<Application, ApplicationError> {
    let draft = ApplicationDraft { branch_id, name: name("Shop"), url: None, wholesale: false };
    ApplicationRepository::insert(&*fixture.store(), stamp(project), draft, token.to_owned()).await
}

/// A token identifies its application. A replaced token, and that of an inactive application, are invalid at once.
pub async fn a_replaced_token_is_invalid<F: Fixture>(fixture: &F) {
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (first, second) = (token(), token());
    let app = application(fixture, project, branch(fixture, project).await, &first).await.unwrap();
    let scope = store.by_token(&first).await.unwrap().unwrap();
    assert_eq!((scope.project_id, scope.application_id, scope.wholesale), (project, app.id, false));
    assert_eq!(store.by_token(&second).await.unwrap(), None);
    let refused = store.replace_token(stamp(other), app.id, second.clone()).await;
    assert!(matches!(refused, Err(ApplicationError::NotFound)), "{refused:?}");
    store.replace_token(stamp(project), app.id, second.clone()).await.unwrap();
    assert_eq!(store.by_token(&first).await.unwrap(), None);
    assert_eq!(store.by_token(&second).await.unwrap(), Some(scope));
    store.switch(stamp(project), app.id, false).await.unwrap();
    assert_eq!(store.by_token(&second).await.unwrap(), None);
    store.switch(stamp(project), app.id, true).await.unwrap();
    assert_eq!(store.by_token(&second).await.unwrap(), Some(scope));
    let refused = application(fixture, other, app.details.branch_id, &token()).await;
    let unknown = matches!(refused, Err(RecordError::Refused(ApplicationRefusal::UnknownBranch)));
    assert!(unknown, "a branch of another project: {refused:?}");
}

/// A branch is deleted once, and not while an application belongs to it. Other projects do not delete it.
pub async fn a_branch_in_use_stays<F: Fixture>(fixture: &F) {
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (used, unused) = (branch(fixture, project).await, branch(fixture, project).await);
    application(fixture, project, used, &token()).await.unwrap();
    let delete = |project, id| DeletableRepository::<Branch>::delete(&*store, stamp(project), id);
    let refused = delete(project, used).await;
    assert!(matches!(refused, Err(RecordError::Refused(BranchRefusal::InUse))), "{refused:?}");
    let refused = delete(other, unused).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let outcomes = join_all((0..4).map(|_| delete(project, unused))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let left: Vec<_> = RecordRepository::<Branch>::list(&*store, project).await.unwrap();
    assert_eq!(left.iter().map(|branch| branch.id).collect::<Vec<_>>(), [used]);
}

fn shop_details(branch_id: BranchId) -> ShopDetails {
    ShopDetails {
        branch_id,
        name: name("Shop"),
        address: Line::parse("Square 1").unwrap(),
        phone: None,
        photo: None,
        latitude: None,
        longitude: None,
        zone: None,
        is_active: true,
    }
}

async fn shop<F: Fixture<Store: RecordRepository<StaffShop>>>(fixture: &F, project: ProjectId) -> ShopId {
    let details = shop_details(branch(fixture, project).await);
    RecordRepository::<StaffShop>::insert(&*fixture.store(), stamp(project), details).await.unwrap().id
}

/// Under concurrent changes, the opening hours of a shop do not overlap.
pub async fn opening_hours_do_not_overlap<F>(fixture: &F)
where
    F: Fixture<Store: RecordRepository<StaffShop> + OpeningTimesStore>,
{
    let (store, project) = (fixture.store(), fixture.project().await);
    let shop = shop(fixture, project).await;
    let hours = |day: i64| {
        let [opens, closes] = ["09:00", "18:00"].map(|time| TimeOfDay::parse(time).unwrap());
        TimesChange::AddHours(Weekday::new(day).unwrap(), Interval::new(opens, closes).unwrap())
    };
    let outcomes = join_all((0..8).map(|_| store.change_times(stamp(project), shop, hours(1)))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let overlaps = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Err(RecordError::Refused(ShopRefusal::Times(TimesRefused::Overlap(_))))));
    assert_eq!(overlaps.count(), 7, "{outcomes:?}");
    let (after, _) = store.change_times(stamp(project), shop, hours(2)).await.unwrap();
    assert_eq!(after.times.hours.len(), 2);
    let outsider = fixture.project().await;
    let refused = store.change_times(stamp(outsider), shop, hours(3)).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
}

async fn task<F>(fixture: &F, project: ProjectId, title: &str, responsible: UserId)
where
    F: Fixture<Store: RecordRepository<Task>>,
{
    let links = TaskLinks { responsible_id: Some(responsible), ..TaskLinks::default() };
    let draft = TaskDraft { title: name(title), description: None, status: TaskStatus::New, links };
    RecordRepository::<Task>::insert(&*fixture.store(), stamp(project), draft).await.unwrap();
}

async fn leased<F>(fixture: &F, owner: &str, at: DateTime<Utc>) -> Option<TaskMail>
where
    F: Fixture<Store: TaskMailQueue>,
{
    TaskMailQueue::lease(&*fixture.store(), owner, at, at + TimeDelta::seconds(30)).await.unwrap()
}

/// Notifications of an employee become one mail. Under concurrent calls, one worker leases it, until the lease has run
/// out.
pub async fn a_mail_has_one_lease<F>(fixture: &F)
where
    F: Fixture<Store: RecordRepository<Task> + TaskMailQueue>,
{
    let (store, project) = (fixture.store(), fixture.project().await);
    let anna = fixture.employee(project).await;
    for title in ["First", "Second", "Third"] {
        task(fixture, project, title, anna).await;
    }
    assert_eq!(leased(fixture, "early", after(59)).await, None);
    let owners: Vec<String> = (0..6).map(|number| format!("worker {number}")).collect();
    let rounds = join_all(owners.iter().map(|owner| leased(fixture, owner, after(60)))).await;
    let mails: Vec<_> = rounds.into_iter().flatten().collect();
    assert_eq!(
        mails.iter().map(|mail| (mail.user_id, mail.lines.len(), mail.attempts)).collect::<Vec<_>>(),
        [(anna, 3, 1)]
    );
    assert_eq!(leased(fixture, "late", after(89)).await, None);
    let again = leased(fixture, "next", after(90)).await.unwrap();
    assert_eq!((again.user_id, again.attempts), (anna, 2));
    store.settle(again, "next", after(91), after(91) + COLLECTION_PERIOD).await.unwrap();
    assert_eq!(leased(fixture, "next", after(86_400)).await, None);
}

/// Notifications that arrive while a mail is sent are another mail.
pub async fn no_notification_is_lost<F>(fixture: &F)
where
    F: Fixture<Store: RecordRepository<Task> + TaskMailQueue>,
{
    let (store, project) = (fixture.store(), fixture.project().await);
    let anna = fixture.employee(project).await;
    task(fixture, project, "First", anna).await;
    let mail = leased(fixture, "worker", after(60)).await.unwrap();
    task(fixture, project, "Second", anna).await;
    let next = after(61) + COLLECTION_PERIOD;
    store.settle(mail, "worker", after(61), next).await.unwrap();
    assert_eq!(leased(fixture, "worker", next - TimeDelta::seconds(1)).await, None);
    let second = leased(fixture, "worker", next).await.unwrap();
    assert_eq!(second.lines.iter().map(|line| line.title.as_str()).collect::<Vec<_>>(), ["Second"]);
    store.postpone(&second, "another worker", next + TimeDelta::hours(1)).await.unwrap();
    let later = next + TimeDelta::seconds(30);
    assert!(leased(fixture, "worker", later).await.is_some(), "only the owner of the lease postpones it");
}
