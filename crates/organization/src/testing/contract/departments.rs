use async_trait::async_trait;
use futures_util::future::join_all;
use kontor_kernel::{
    BranchId, DeletableRepository, DepartmentId, Edit, ProjectId, RecordError, RecordRepository, UserId,
};

use super::{Fixture, branch, name, stamp};
use crate::model::{Branch, Department, DepartmentChange, DepartmentDraft};
use crate::{BranchRefusal, DepartmentError, DepartmentRefusal};

/// Storage under test, with employees in departments.
#[async_trait]
pub trait DepartmentFixture: Fixture {
    /// Assigns an employee to a department of the project, or to none.
    async fn assign(&self, user: UserId, department: Option<DepartmentId>);
}

async fn department<F>(
    fixture: &F,
    project: ProjectId,
    branch_id: Option<BranchId>,
) -> Result<Department, DepartmentError>
where
    F: Fixture<Store: RecordRepository<Department>>,
{
    let draft = DepartmentDraft { name: name("Sales"), description: None, branch_id };
    RecordRepository::<Department>::insert(&*fixture.store(), stamp(project), draft).await
}

/// A department is listed and changed in its project, and refers to a branch of it. A branch with a department stays.
pub async fn a_department_belongs_to_its_project<F>(fixture: &F)
where
    F: Fixture<Store: DeletableRepository<Department>>,
{
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (own, foreign) = (branch(fixture, project).await, branch(fixture, other).await);
    let refused = department(fixture, project, Some(foreign)).await;
    let is_unknown = matches!(refused, Err(RecordError::Refused(DepartmentRefusal::UnknownBranch)));
    assert!(is_unknown, "{refused:?}");
    let sales = department(fixture, project, Some(own)).await.unwrap();
    assert_eq!(sales.branch, Some((own, name("Branch"))));
    let update = |project, branch_id| {
        let change = DepartmentChange { branch_id: Edit::Set(branch_id), ..DepartmentChange::default() };
        RecordRepository::<Department>::update(&*store, stamp(project), sales.id, change)
    };
    let refused = update(project, Some(foreign)).await;
    let is_unknown = matches!(refused, Err(RecordError::Refused(DepartmentRefusal::UnknownBranch)));
    assert!(is_unknown, "{refused:?}");
    let refused = update(other, None).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let found = RecordRepository::<Department>::find(&*store, sales.id).await.unwrap().unwrap();
    assert_eq!(found.within(project), Some(sales.clone()), "a refused change changes nothing");
    let refused = DeletableRepository::<Branch>::delete(&*store, stamp(project), own).await;
    assert!(matches!(refused, Err(RecordError::Refused(BranchRefusal::InUse))), "{refused:?}");
    let changed = update(project, None).await.unwrap();
    assert_eq!(changed, Department { branch: None, ..sales });
    DeletableRepository::<Branch>::delete(&*store, stamp(project), own).await.unwrap();
    let listed = RecordRepository::<Department>::list(&*store, project).await.unwrap();
    assert_eq!(listed, [changed]);
    let listed = RecordRepository::<Department>::list(&*store, other).await.unwrap();
    assert_eq!(listed, []);
}

/// A department is deleted once, by its project, and not while it has employees.
pub async fn a_department_with_employees_stays<F>(fixture: &F)
where
    F: DepartmentFixture<Store: DeletableRepository<Department>>,
{
    let (store, project, other) = (fixture.store(), fixture.project().await, fixture.project().await);
    let user = fixture.employee(project).await;
    let sales = department(fixture, project, None).await.unwrap().id;
    let delete = |project| DeletableRepository::<Department>::delete(&*store, stamp(project), sales);
    fixture.assign(user, Some(sales)).await;
    let refused = delete(project).await;
    let has_employees = matches!(refused, Err(RecordError::Refused(DepartmentRefusal::HasEmployees)));
    assert!(has_employees, "{refused:?}");
    fixture.assign(user, None).await;
    let refused = delete(other).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let outcomes = join_all((0..4).map(|_| delete(project))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let gone = outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::NotFound)));
    assert_eq!(gone.count(), 3, "{outcomes:?}");
    assert_eq!(RecordRepository::<Department>::find(&*store, sales).await.unwrap(), None);
}
