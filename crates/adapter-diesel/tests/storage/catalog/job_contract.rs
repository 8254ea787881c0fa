//! Contract of jobs.

use async_trait::async_trait;
use kontor_auth::model::RoleChoice;
use kontor_auth::ports::StaffRepository;
use kontor_catalog::testing::contract::jobs::{self as contract, Fixture};
use kontor_kernel::{ProjectId, UserId};

use crate::fixtures::{self, EmptyDatabase};
use crate::staff::employee;

#[async_trait]
impl Fixture for EmptyDatabase<'_> {
    async fn author(&self, project: ProjectId) -> UserId {
        let boss = employee(project, "boss", RoleChoice::Owner);
        StaffRepository::insert_employee(&self.0.database, boss).await.unwrap()
    }

    async fn ban(&self, author: UserId) {
        let statement = format!("UPDATE users SET is_banned = TRUE, version = version + 1 WHERE id = {author}");
        fixtures::run(self.0, statement).await;
    }
}

promises! {
    EmptyDatabase:
    only_so_many_jobs_wait
    an_import_has_one_runner
    an_expired_lease_is_taken_over
    a_released_job_is_available_at_once
    a_job_that_goes_forward_is_taken_over_at_once
    a_step_is_recorded_once
    an_author_without_rights_writes_nothing
    a_canceled_job_writes_nothing
    an_export_has_one_runner
    files_are_kept_until_they_are_forgotten
    jobs_are_listed_newest_first
}
