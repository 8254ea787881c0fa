//! Rules broken on purpose are reported by name.

use kontor_adapter_diesel::testing::Kind;
use kontor_simulator::{Plan, Simulation, When, invariants};

use crate::on_one_thread;

/// Triggers in the storage that work against the service, and the rules they break.
const SABOTAGE: [(&str, &str); 11] = [
    (
        invariants::LEDGER,
        "CREATE TRIGGER sabotage AFTER UPDATE OF reserved ON inventories BEGIN UPDATE inventories SET quantity = quantity + 1 \
         WHERE id = NEW.id; END",
    ),
    (
        invariants::REFUNDS,
        "CREATE TRIGGER sabotage AFTER INSERT ON refunds BEGIN INSERT INTO refunds (project_id, charge_id, state, amount, \
         description, request_key, idempotence_key, key_made_at, asked_at, tries, checks, next_check_at, created_at, \
         updated_at) VALUES (NEW.project_id, NEW.charge_id, NEW.state, NEW.amount, NEW.description, NEW.request_key || '2', \
         NEW.idempotence_key || '2', NEW.key_made_at, NEW.asked_at, 1, 0, NEW.next_check_at, NEW.created_at, \
         NEW.updated_at); END",
    ),
    (
        invariants::TOTALS,
        "CREATE TRIGGER sabotage AFTER INSERT ON reservations BEGIN UPDATE reservations SET unit_price = \
         unit_price + 1, total = total + quantity WHERE id = NEW.id; END",
    ),
    (
        invariants::CAPTURED,
        "CREATE TRIGGER sabotage AFTER UPDATE OF state ON charges WHEN NEW.state = 'succeeded' BEGIN UPDATE charges SET \
         provider_payment_id = provider_payment_id || '2' WHERE id = NEW.id; END",
    ),
    (
        invariants::ONE_EVENT,
        "CREATE TRIGGER sabotage AFTER INSERT ON outbox_events BEGIN DELETE FROM outbox_events WHERE id = NEW.id; END",
    ),
    (
        invariants::ONE_EFFECT_PER_KEY,
        "CREATE TRIGGER sabotage AFTER INSERT ON idempotency_keys WHEN NEW.id LIKE 'counterparty:%' BEGIN DELETE FROM \
         idempotency_keys WHERE id = NEW.id; END",
    ),
    (
        invariants::CALL_IS_APPROVED,
        "CREATE TRIGGER sabotage AFTER INSERT ON agent_actions BEGIN INSERT INTO tasks (project_id, title, title_key, sort_key, \
         status_id, created_at, updated_at) VALUES (NEW.project_id, 'Agent call 0', '0', x'00', 1, NEW.proposed_at, \
         NEW.proposed_at); END",
    ),
    (
        invariants::ONE_EFFECT_PER_CALL,
        "CREATE TRIGGER sabotage AFTER INSERT ON tasks BEGIN INSERT INTO tasks (project_id, title, title_key, sort_key, \
         status_id, created_at, updated_at) VALUES (NEW.project_id, NEW.title, NEW.title_key, NEW.sort_key, NEW.status_id, \
         NEW.created_at, NEW.updated_at); END",
    ),
    (
        invariants::ONE_CODE,
        "CREATE TRIGGER sabotage AFTER UPDATE OF consumed_at ON one_time_codes BEGIN UPDATE one_time_codes SET consumed_at = \
         NULL WHERE project_id = NEW.project_id AND contact = NEW.contact; END",
    ),
    (
        invariants::NO_UNKNOWN_OUTCOME,
        "CREATE TRIGGER sabotage AFTER INSERT ON refunds BEGIN UPDATE refunds SET next_check_at = '2100-01-01 00:00:00' \
         WHERE id = NEW.id; END",
    ),
    (
        invariants::DELIVERED,
        "CREATE TRIGGER sabotage AFTER UPDATE OF attempts ON webhook_deliveries WHEN NEW.status = 'pending' AND \
         NEW.attempts > 0 BEGIN UPDATE webhook_deliveries SET status = 'delivered' WHERE id = NEW.id; END",
    ),
];

/// Rows that the service cannot produce, and the rules they break.
const ROWS: [(&str, &str); 10] = [
    // First, because it is checked only when no other rule is broken.
    (invariants::DERIVED_DATA_MATCHES, "UPDATE discounts SET used_count = used_count + 1 WHERE id = 1"),
    (
        invariants::STOCK,
        "PRAGMA ignore_check_constraints = ON; UPDATE inventories SET quantity = -1 WHERE id = 1; \
         PRAGMA ignore_check_constraints = OFF",
    ),
    (
        invariants::ONE_CHARGE,
        "DROP INDEX charges_one_paid; UPDATE charges SET purpose_id = (SELECT min(purpose_id) FROM charges WHERE purpose = \
         'order' AND state = 'succeeded') WHERE purpose = 'order' AND state = 'succeeded'",
    ),
    (
        invariants::ONE_SUCCESS,
        "DROP INDEX subscription_payments_one_paid; INSERT INTO subscription_payments (project_id, subscription_id, period, \
         number, origin, planned, state, order_id, charge_id, amount, currency, started_at, ended_at) SELECT project_id, \
         subscription_id, period, number + 100, origin, planned, state, order_id, charge_id, amount, currency, started_at, \
         ended_at FROM subscription_payments WHERE state = 'succeeded' LIMIT 1",
    ),
    (
        invariants::FAILING_WORK_ENDS,
        "UPDATE subscriptions SET work_attempts = 12 WHERE id = (SELECT min(id) FROM subscriptions)",
    ),
    (
        invariants::NOTICE_MATCHES_STATE,
        "UPDATE notifications SET code = CASE WHEN code IN ('subscription_canceled', 'subscription_ended') THEN \
         'subscription_renewed' ELSE 'subscription_ended' END WHERE code IN ('subscription_activated', 'subscription_renewed', \
         'subscription_resumed', 'subscription_canceled', 'subscription_ended')",
    ),
    (
        invariants::HAS_NEXT_STEP,
        "UPDATE subscriptions SET wake_at = NULL, parked = 'above_consent' WHERE status = 'active'",
    ),
    (
        invariants::ONE_LIVE,
        "UPDATE subscriptions SET counterparty_id = (SELECT min(s.counterparty_id) FROM subscriptions s WHERE s.project_id = \
         subscriptions.project_id), nomenclature_id = (SELECT min(s.nomenclature_id) FROM subscriptions s WHERE s.project_id = \
         subscriptions.project_id), status = 'active', canceled_at = NULL",
    ),
    // The database refuses records of another project, but not those of another application.
    (
        invariants::TENANT_ISOLATION,
        "UPDATE outbox_events SET application_id = (SELECT a.id FROM applications a WHERE a.project_id = \
         outbox_events.project_id AND a.id <> outbox_events.application_id)",
    ),
    (
        invariants::GRANTED_IS_PAID,
        "UPDATE subscriptions SET period_number = period_number + 1 WHERE id = (SELECT min(id) FROM subscriptions WHERE \
         period_number IS NOT NULL)",
    ),
];

#[test]
fn sabotage_is_reported_by_the_name_of_the_broken_rule() {
    let plan = Plan { seed: 11, days: 2, merchants: 2, database: Kind::Sqlite };
    for (rule, trigger) in SABOTAGE {
        let broken = on_one_thread(async {
            let mut simulation = Simulation::open(plan).await;
            simulation.falsify(trigger).await;
            simulation.trade().await?;
            simulation.comes_to_rest().await
        });
        let broken = broken.expect_err(rule);
        assert_eq!(broken.rule, rule, "{broken}");
        assert!(broken.to_string().ends_with("just simulate 11 2"), "{broken}");
    }
}

#[test]
fn impossible_rows_are_reported_by_the_name_of_their_rule() {
    on_one_thread(async {
        let mut simulation = Simulation::open(Plan { seed: 12, days: 2, merchants: 2, database: Kind::Sqlite }).await;
        simulation.trade().await.unwrap_or_else(|broken| panic!("{broken}"));
        for (rule, rows) in ROWS {
            simulation.falsify(rows).await;
            let broken = simulation.look(When::EveryDay, None).await.expect_err(rule);
            assert!(broken.to_string().contains(rule), "{rule}: {broken}");
        }
    });
}

/// Requests of a merchant for their own records must break the isolation rule.
#[test]
fn cross_tenant_access_is_reported() {
    let broken = on_one_thread(Simulation::run(Plan { seed: 12, days: 2, merchants: 1, database: Kind::Sqlite }))
        .expect_err(invariants::TENANT_ISOLATION);
    assert_eq!(broken.rule, invariants::TENANT_ISOLATION, "{broken}");
    assert!(["read:", "stock:", "token:", "list:"].iter().all(|asked| broken.how.contains(asked)), "{broken}");
}
