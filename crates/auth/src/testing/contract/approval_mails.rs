use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::Permission;

use super::agent_actions::{call, decision, proposed, team};
use super::{Fixture, after, noon, owner};
use crate::model::{AgentActionEvent, ApprovalMail, NewAgentAction};
use crate::ports::{AgentActionRepository, AgentRepository, ApprovalMailQueue, StaffRepository as _};
use crate::{APPROVAL_MAIL_DELAY, APPROVAL_MAIL_INTERVAL};

async fn leased<F>(fixture: &F, worker: &str, at: DateTime<Utc>) -> Option<ApprovalMail>
where
    F: Fixture<Store: ApprovalMailQueue>,
{
    ApprovalMailQueue::lease(&*fixture.store(), worker, at, at + TimeDelta::seconds(30)).await.unwrap()
}

async fn released<F>(fixture: &F, mail: &ApprovalMail, worker: &str, settled: i64, next: DateTime<Utc>)
where
    F: Fixture<Store: ApprovalMailQueue>,
{
    ApprovalMailQueue::release(&*fixture.store(), mail, worker, settled, next).await.unwrap();
}

/// Under concurrent calls, one worker leases the mail about the proposals of a minute. After its lease, it releases
/// nothing.
pub async fn an_approval_mail_has_one_lease<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository + ApprovalMailQueue>,
{
    let (store, team) = (fixture.store(), team(fixture).await);
    let equal = call(team, noon());
    let proposals = [equal.clone(), NewAgentAction { public_id: call(team, noon()).public_id, ..equal }];
    for outcome in join_all(proposals.into_iter().chain([call(team, after(1))]).map(|new| store.propose(new))).await {
        outcome.unwrap();
    }
    let due = after(1) + APPROVAL_MAIL_DELAY;
    assert_eq!(leased(fixture, "early", noon() + APPROVAL_MAIL_DELAY - TimeDelta::seconds(1)).await, None);
    let workers: Vec<String> = (0..6).map(|number| format!("worker {number}")).collect();
    let rounds = join_all(workers.iter().map(|worker| leased(fixture, worker, due))).await;
    let mut mails = workers.iter().zip(rounds).filter_map(|(worker, mail)| Some((worker, mail?)));
    let (worker, mail) = mails.next().unwrap();
    assert!(mails.next().is_none(), "one worker has it");
    assert_eq!((mail.project_id, mail.user_id, mail.wanted, mail.calls.len()), (team.project, team.admin, 2, 2));
    assert!(mail.to.is_some());
    assert_eq!(mail.permissions, Permission::all().collect());
    let shown = mail.calls.first().unwrap();
    assert_eq!((shown.agent.as_str(), shown.operation.as_str()), ("Bot", "POST /api/brands"));
    assert_eq!(leased(fixture, "late", due + TimeDelta::seconds(29)).await, None);
    let end = due + TimeDelta::seconds(30);
    assert_eq!(leased(fixture, "next", end).await.as_ref(), Some(&mail));
    released(fixture, &mail, worker, 0, end).await;
    assert_eq!(leased(fixture, "late", end + TimeDelta::seconds(29)).await, None, "the lease has passed to another");
    released(fixture, &mail, "next", mail.wanted, end).await;
    assert_eq!(leased(fixture, "late", after(86_400)).await, None, "nothing is new");
}

/// A proposal that is made after a mail was read is in the next one, which is sent after a pause. An unsent mail stays.
pub async fn a_later_proposal_is_mailed_later<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository + ApprovalMailQueue>,
{
    let team = team(fixture).await;
    proposed(fixture, team, noon()).await;
    let first = leased(fixture, "me", after(60)).await.unwrap();
    proposed(fixture, team, after(60)).await;
    let next = after(61) + APPROVAL_MAIL_INTERVAL;
    released(fixture, &first, "me", first.wanted, next).await;
    proposed(fixture, team, after(62)).await;
    assert_eq!(leased(fixture, "me", next - TimeDelta::seconds(1)).await, None);
    let second = leased(fixture, "me", next).await.unwrap();
    assert_eq!((first.wanted, second.wanted, second.calls.len()), (1, 2, 3));
    let again = next + TimeDelta::seconds(60);
    released(fixture, &second, "me", 0, again).await;
    assert_eq!(leased(fixture, "me", again - TimeDelta::seconds(1)).await, None);
    let third = leased(fixture, "me", again).await.unwrap();
    assert_eq!(third.wanted, 2, "nothing was settled");
    released(fixture, &third, "me", third.wanted, again).await;
    proposed(fixture, team, after(5_000)).await;
    let due = after(5_000) + APPROVAL_MAIL_DELAY;
    assert_eq!(leased(fixture, "me", due - TimeDelta::seconds(1)).await, None, "it waits for others again");
    assert_eq!(leased(fixture, "me", due).await.unwrap().wanted, 1);
}

/// A mail shows the undecided calls of its project. A banned employee gets none.
pub async fn a_mail_is_for_approvers_of_the_project<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository + ApprovalMailQueue>,
{
    let (store, team, other) = (fixture.store(), team(fixture).await, team(fixture).await);
    let banned = owner(fixture, team.project).await;
    let declined = proposed(fixture, team, noon()).await;
    let waiting = proposed(fixture, team, noon()).await;
    store.decide(declined, AgentActionEvent::Refuse, decision(team, after(1)), i64::MAX).await.unwrap();
    store.ban(banned, after(1)).await.unwrap();
    for _ in 0..2 {
        let mail = leased(fixture, "me", after(60)).await.unwrap();
        assert_eq!(mail.calls.iter().map(|call| call.public_id).collect::<Vec<_>>(), [waiting]);
        assert_eq!((mail.to.is_none(), mail.permissions.is_empty()), (mail.user_id == banned, mail.user_id == banned));
        released(fixture, &mail, "me", mail.wanted, after(61)).await;
    }
    let foreign = proposed(fixture, other, after(61)).await;
    proposed(fixture, team, after(62)).await;
    let mails = [leased(fixture, "me", after(200)).await.unwrap(), leased(fixture, "me", after(200)).await.unwrap()];
    assert_eq!(mails.each_ref().map(|mail| mail.user_id), [other.admin, team.admin], "the longest due first");
    let calls = mails.first().unwrap().calls.iter().map(|call| call.public_id);
    assert_eq!(calls.collect::<Vec<_>>(), [foreign]);
    assert_eq!(leased(fixture, "me", after(200)).await, None, "a banned employee is not queued");
}
