//! Contract of the ports of logins.

use std::sync::Arc;

use async_trait::async_trait;
use kontor_adapter_diesel::Database;
use kontor_auth::testing::contract::{self, Fixture};
use kontor_kernel::AppScope;

use crate::catalog::records;
use crate::fixtures::{self, EmptyDatabase};

#[async_trait]
impl Fixture for EmptyDatabase<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.0.database.clone())
    }

    async fn apps(&self) -> [AppScope; 2] {
        let project_id = fixtures::project(self.0).await;
        let branch = records::branch(self.0, project_id).await;
        let [first, second] = [
            records::application(self.0, project_id, branch, "First").await,
            records::application(self.0, project_id, branch, "Second").await,
        ];
        [first, second].map(|application_id| AppScope { project_id, application_id, wholesale: false })
    }
}

promises! {
    EmptyDatabase:
    a_deleted_agent_has_no_tokens
    a_token_follows_its_agent
    callers_change_no_stronger_agent
    an_agent_has_a_maximum_of_tokens
    an_access_request_is_decided_once
    an_access_request_gives_one_token
    an_access_request_respects_the_maximum_of_tokens
    a_request_belongs_to_one_project
    an_access_request_expires
    an_equal_call_is_proposed_once
    an_agent_has_a_maximum_of_open_calls
    a_call_is_decided_once
    an_approved_call_is_executed_once
    a_policy_is_replaced_once_per_version
    a_new_policy_stops_waiting_calls
    an_employee_approves_a_maximum_per_hour
    an_agent_stays_within_its_day
    an_approved_call_is_counted_once
    further_failures_are_only_counted
    an_approval_mail_has_one_lease
    a_later_proposal_is_mailed_later
    a_mail_is_for_approvers_of_the_project
    a_code_gives_one_token
    wrong_attempts_use_up_a_code
    a_code_is_valid_for_its_contact_and_time
    a_contact_has_one_customer
    a_revoked_token_is_gone
    guards_share_no_tokens
    a_ban_revokes_tokens
    a_project_keeps_an_owner
    a_login_has_one_employee
    an_employee_belongs_to_one_project
    callers_assign_permissions_that_they_hold
    colleagues_keep_an_owner
    a_banned_employee_loses_access
    a_temporary_password_ends_with_its_address
    a_directory_has_the_employees_of_its_project
    a_permission_name_is_unique_in_its_project
    a_permission_belongs_to_its_project
    a_permission_has_a_screen
    a_permission_of_a_role_stays
    a_nonce_is_used_once
    a_phone_has_one_attempt
    an_attempt_is_exchanged_once
    the_provider_is_queried_in_turn
    a_token_has_one_session
    a_revoked_token_has_no_session
    a_phone_has_one_customer
    a_phone_changes_by_its_code
    a_password_request_has_one_lease
    a_newer_password_request_stays
    a_temporary_password_becomes_the_own_one
    a_temporary_password_needs_its_recipient
    a_sign_in_address_is_remembered
    a_client_sees_tokens_of_its_application
    an_audience_has_one_client
    a_disabled_client_is_inactive
    a_bot_token_belongs_to_its_application
    a_role_is_changed_once_per_version
    a_role_grants_its_permissions
    the_owners_role_stays
    a_token_has_permissions_of_its_project
}
