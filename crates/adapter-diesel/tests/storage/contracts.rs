//! The suites of contracts run completely.

/// Sources of a suite, and of the file that runs it.
macro_rules! suites {
    ($($suite:literal: $runs:literal)+) => {
        [$((include_str!(concat!("../../../", $suite)), include_str!($runs), $suite)),+]
    };
}

#[test]
fn every_check_of_every_suite_runs() {
    let suites = suites! {
        "auth/src/testing/contract.rs": "auth_contract.rs"
        "auth/src/testing/contract/access_requests.rs": "auth_contract.rs"
        "auth/src/testing/contract/agent_actions.rs": "auth_contract.rs"
        "auth/src/testing/contract/agents.rs": "auth_contract.rs"
        "auth/src/testing/contract/applications.rs": "auth_contract.rs"
        "auth/src/testing/contract/approval_mails.rs": "auth_contract.rs"
        "auth/src/testing/contract/passwords.rs": "auth_contract.rs"
        "auth/src/testing/contract/phones.rs": "auth_contract.rs"
        "auth/src/testing/contract/roles.rs": "auth_contract.rs"
        "auth/src/testing/contract/sessions.rs": "auth_contract.rs"
        "catalog/src/testing/contract/customers.rs": "catalog/customer_contract.rs"
        "catalog/src/testing/contract/jobs.rs": "catalog/job_contract.rs"
        "catalog/src/testing/contract/names.rs": "catalog/name_contract.rs"
        "catalog/src/testing/contract/offers.rs": "catalog/offer_contract.rs"
        "catalog/src/testing/contract/sheets.rs": "catalog/sheet_contract.rs"
        "catalog/src/testing/contract/stock.rs": "catalog/stock_contract.rs"
        "catalog/src/testing/contract/storefront.rs": "catalog/storefront_contract.rs"
        "content/src/testing/contract.rs": "content_contract.rs"
        "content/src/testing/contract/reading.rs": "content_contract.rs"
        "content/src/testing/contract/slides.rs": "content_contract.rs"
        "customers/src/testing/contract.rs": "customer_contract.rs"
        "orders/src/testing/contract.rs": "orders/contract.rs"
        "orders/src/testing/contract/limits.rs": "orders/contract.rs"
        "orders/src/testing/contract/reading.rs": "orders/contract.rs"
        "orders/src/testing/contract/refunds.rs": "orders/contract.rs"
        "orders/src/testing/contract/tickets.rs": "orders/contract.rs"
        "organization/src/testing/contract.rs": "organization_contract.rs"
        "organization/src/testing/contract/bank_accounts.rs": "organization_contract.rs"
        "organization/src/testing/contract/checkout.rs": "organization_contract.rs"
        "organization/src/testing/contract/departments.rs": "organization_contract.rs"
        "organization/src/testing/contract/dictionaries.rs": "organization_contract.rs"
        "organization/src/testing/contract/integrations.rs": "organization_contract.rs"
        "organization/src/testing/contract/menus.rs": "organization_contract.rs"
        "organization/src/testing/contract/projects.rs": "organization_contract.rs"
        "organization/src/testing/contract/shops.rs": "organization_contract.rs"
        "payments/src/testing/contract.rs": "payments.rs"
        "payments/src/testing/contract/doubts.rs": "payments.rs"
        "payments/src/testing/contract/receipts.rs": "payments.rs"
        "subscriptions/src/testing/contract.rs": "subscriptions/contract.rs"
        "subscriptions/src/testing/contract/method_changes.rs": "subscriptions/contract.rs"
        "subscriptions/src/testing/contract/reading.rs": "subscriptions/contract.rs"
        "webhooks/src/testing/contract.rs": "webhook_contract.rs"
    };
    for (checks, runs, suite) in suites {
        let named = checks.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('<'));
        let missing: Vec<&str> =
            named.map(|(check, _)| check).filter(|check| !runs.contains(&format!("\n    {check}\n"))).collect();
        assert!(missing.is_empty(), "{suite}: {missing:?}");
    }
}
