//! The logins in memory fulfill the contract, and the contract notices each guard that is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use kontor_kernel::AppScope;

use super::{Guard, InMemoryLogins};
use crate::testing::contract::{self, Fixture};

#[async_trait]
impl Fixture for InMemoryLogins {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn apps(&self) -> [AppScope; 2] {
        let project_id = self.state.with(|state| state.ids.id());
        [(); 2].map(|()| {
            let application_id = self.state.with(|state| state.ids.id());
            let app = AppScope { project_id, application_id, wholesale: false };
            self.add_app(app);
            app
        })
    }
}

/// Runs every check, each on a new storage. Returns the names of those that failed.
macro_rules! failures {
    ($open:expr; $($check:ident)+) => {{
        let mut failed: Vec<&str> = Vec::new();
        $(
            let store: InMemoryLogins = $open;
            if AssertUnwindSafe(contract::$check(&store)).catch_unwind().await.is_err() {
                failed.push(stringify!($check));
            }
        )+
        failed
    }};
}

async fn failures(open: impl Fn() -> InMemoryLogins) -> Vec<&'static str> {
    failures! {
        open();
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
        a_role_is_changed_once_per_version
        a_role_grants_its_permissions
        the_owners_role_stays
        a_token_has_permissions_of_its_project
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
    }
}

#[tokio::test]
async fn the_logins_in_memory_fulfill_the_contract() {
    assert_eq!(failures(InMemoryLogins::default).await, [""; 0]);
}

/// The checks that notice each guard, when it is missing.
#[tokio::test]
async fn a_missing_guard_is_noticed() {
    for (guard, check) in [
        (Guard::AgentDeleted, "a_deleted_agent_has_no_tokens"),
        (Guard::Abilities, "a_token_follows_its_agent"),
        (Guard::AgentHeld, "callers_change_no_stronger_agent"),
        (Guard::AgentTokens, "an_agent_has_a_maximum_of_tokens"),
        (Guard::AgentTokens, "an_access_request_respects_the_maximum_of_tokens"),
        (Guard::RequestDecided, "an_access_request_is_decided_once"),
        (Guard::RequestConsumed, "an_access_request_gives_one_token"),
        (Guard::RequestClaim, "a_request_belongs_to_one_project"),
        (Guard::Deadline, "an_access_request_expires"),
        (Guard::CallProposed, "an_equal_call_is_proposed_once"),
        (Guard::OpenCalls, "an_agent_has_a_maximum_of_open_calls"),
        (Guard::CallCounted, "an_approved_call_is_counted_once"),
        (Guard::CallDecided, "a_call_is_decided_once"),
        (Guard::Deadline, "a_call_is_decided_once"),
        (Guard::CallLease, "an_approved_call_is_executed_once"),
        (Guard::CallAttempt, "an_approved_call_is_executed_once"),
        (Guard::CallResult, "an_approved_call_is_executed_once"),
        (Guard::PolicyVersion, "a_policy_is_replaced_once_per_version"),
        (Guard::PolicyChanged, "a_new_policy_stops_waiting_calls"),
        (Guard::Approvals, "an_employee_approves_a_maximum_per_hour"),
        (Guard::DayLimits, "an_agent_stays_within_its_day"),
        (Guard::Failures, "further_failures_are_only_counted"),
        (Guard::MailLease, "an_approval_mail_has_one_lease"),
        (Guard::MailOwner, "an_approval_mail_has_one_lease"),
        (Guard::Approver, "a_mail_is_for_approvers_of_the_project"),
        (Guard::Code, "a_code_gives_one_token"),
        (Guard::Attempts, "wrong_attempts_use_up_a_code"),
        (Guard::Expiry, "a_code_is_valid_for_its_contact_and_time"),
        (Guard::Contact, "a_contact_has_one_customer"),
        (Guard::Owner, "a_revoked_token_is_gone"),
        (Guard::Kind, "guards_share_no_tokens"),
        (Guard::Ban, "a_ban_revokes_tokens"),
        (Guard::LastOwner, "a_project_keeps_an_owner"),
        (Guard::Login, "a_login_has_one_employee"),
        (Guard::Project, "an_employee_belongs_to_one_project"),
        (Guard::Held, "callers_assign_permissions_that_they_hold"),
        (Guard::LastOwner, "colleagues_keep_an_owner"),
        (Guard::Ban, "a_banned_employee_loses_access"),
        (Guard::Address, "a_temporary_password_ends_with_its_address"),
        (Guard::Project, "a_directory_has_the_employees_of_its_project"),
        (Guard::Name, "a_permission_name_is_unique_in_its_project"),
        (Guard::Project, "a_permission_belongs_to_its_project"),
        (Guard::InUse, "a_permission_of_a_role_stays"),
        (Guard::Version, "a_role_is_changed_once_per_version"),
        (Guard::InUse, "a_role_grants_its_permissions"),
        (Guard::OwnerRole, "the_owners_role_stays"),
        (Guard::Project, "a_token_has_permissions_of_its_project"),
        (Guard::Nonce, "a_nonce_is_used_once"),
        (Guard::Hold, "a_phone_has_one_attempt"),
        (Guard::Exchange, "an_attempt_is_exchanged_once"),
        (Guard::Interval, "the_provider_is_queried_in_turn"),
        (Guard::Session, "a_token_has_one_session"),
        (Guard::SignedOut, "a_revoked_token_has_no_session"),
        (Guard::Contact, "a_phone_has_one_customer"),
        (Guard::Attempts, "a_phone_changes_by_its_code"),
        (Guard::Lease, "a_password_request_has_one_lease"),
        (Guard::Request, "a_newer_password_request_stays"),
        (Guard::Adoption, "a_temporary_password_becomes_the_own_one"),
        (Guard::Address, "a_temporary_password_needs_its_recipient"),
        (Guard::Application, "a_client_sees_tokens_of_its_application"),
        (Guard::Audience, "an_audience_has_one_client"),
        (Guard::Disabled, "a_disabled_client_is_inactive"),
    ] {
        let failed = failures(|| InMemoryLogins::without(guard)).await;
        assert!(failed.contains(&check), "{guard:?}: {failed:?}");
    }
}

/// The suite of an adapter is complete if it names every check.
#[test]
fn every_check_runs() {
    let checks = [
        include_str!("../contract.rs"),
        include_str!("../contract/access_requests.rs"),
        include_str!("../contract/agent_actions.rs"),
        include_str!("../contract/agents.rs"),
        include_str!("../contract/applications.rs"),
        include_str!("../contract/approval_mails.rs"),
        include_str!("../contract/employees.rs"),
        include_str!("../contract/passwords.rs"),
        include_str!("../contract/permissions.rs"),
        include_str!("../contract/phones.rs"),
        include_str!("../contract/roles.rs"),
        include_str!("../contract/sessions.rs"),
    ];
    let (checks, here) = (checks.concat(), include_str!("tests.rs"));
    let named = checks.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('<'));
    for (check, _) in named {
        assert!(here.contains(&format!("\n        {check}\n")), "{check} does not run");
    }
}
