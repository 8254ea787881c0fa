use futures_util::future::join_all;
use kontor_kernel::{BankAccount, BankRequisite, BankRequisiteChange, BankRequisiteDraft, Bik, Edit, RecordError};

use super::{Fixture, branch, name, stamp};
use crate::BranchRequisiteRefusal;
use crate::ports::BranchRequisiteRepository;

/// Bank account whose number fits its bank.
pub(super) fn draft() -> BankRequisiteDraft {
    BankRequisiteDraft {
        bik: Bik::parse("044525225").unwrap(),
        bank_name: name("Bank"),
        correspondent_account: None,
        account: BankAccount::parse("40702810938000000001").unwrap(),
        comment: None,
    }
}

/// Under concurrent calls, a branch has at most the maximum number of bank accounts. Other projects do not see, add or
/// change them.
pub async fn a_branch_has_a_maximum_of_accounts<F: Fixture<Store: BranchRequisiteRepository>>(fixture: &F) {
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let branch = branch(fixture, project).await;
    let insert = |project| BranchRequisiteRepository::insert(&*store, stamp(project), branch, draft());
    let first = insert(project).await.unwrap();
    assert_eq!(first.content, draft());
    let refused = insert(other).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    for _ in 1..BankRequisite::MAX_PER_OWNER - 2 {
        insert(project).await.unwrap();
    }
    let outcomes = join_all((0..4).map(|_| insert(project))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 2, "{outcomes:?}");
    let full =
        outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::Refused(BranchRequisiteRefusal::TooMany))));
    assert_eq!(full.count(), 2, "{outcomes:?}");
    let all = store.of_branch(project, branch).await.unwrap();
    assert_eq!(i64::try_from(all.len()).unwrap(), BankRequisite::MAX_PER_OWNER);
    assert!(all.iter().map(|account| account.id).is_sorted(), "oldest first");
    assert_eq!(store.of_branch(other, branch).await.unwrap(), []);
}

/// An account is changed by its project and as part of its branch, if its number fits the bank afterwards.
pub async fn a_bank_account_stays_valid<F: Fixture<Store: BranchRequisiteRepository>>(fixture: &F) {
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (ours, next) = (branch(fixture, project).await, branch(fixture, project).await);
    let id = BranchRequisiteRepository::insert(&*store, stamp(project), ours, draft()).await.unwrap().id;
    let renamed = BankRequisiteChange { bank_name: Edit::Set(name("Savings")), ..BankRequisiteChange::default() };
    for (project, branch) in [(other, ours), (project, next)] {
        let refused = BranchRequisiteRepository::update(&*store, stamp(project), branch, id, renamed.clone()).await;
        assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    }
    let moved =
        BankRequisiteChange { bik: Edit::Set(Bik::parse("044525187").unwrap()), ..BankRequisiteChange::default() };
    let refused = BranchRequisiteRepository::update(&*store, stamp(project), ours, id, moved).await;
    let invalid = matches!(refused, Err(RecordError::Refused(BranchRequisiteRefusal::Invalid(_))));
    assert!(invalid, "{refused:?}");
    BranchRequisiteRepository::update(&*store, stamp(project), ours, id, renamed).await.unwrap();
    let found = BranchRequisiteRepository::find(&*store, id).await.unwrap().unwrap();
    let (branch, account) = found.within(project).unwrap();
    let expected = BankRequisiteDraft { bank_name: name("Savings"), ..draft() };
    assert_eq!((branch, account.content), (ours, expected));
}
