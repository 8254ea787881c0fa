//! Rules that must always hold, each with the rows that would break it.

use chrono::{DateTime, Utc};

/// Time a rule is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// After every step, for rows that may have changed since a time; for all rows at the end of a day.
    EveryStep,
    /// At the end of a day.
    EveryDay,
    /// At the end of a run, without faults and after enough time.
    AtRest,
}

/// A rule.
pub struct Invariant {
    /// Message when it is broken.
    pub name: &'static str,
    /// Time it is checked.
    pub when: When,
    /// `FROM` and `WHERE` of the rows that break it. `{since}` is replaced by a condition on `updated_at` of the row
    /// `t`, `{moment}` by the time in it.
    pub rows: &'static str,
}

const fn rule(name: &'static str, when: When, rows: &'static str) -> Invariant {
    Invariant { name, when, rows }
}

use When::{AtRest, EveryDay, EveryStep};

/// Stock is never oversold.
pub const STOCK: &str = "no more is reserved than lies there";
/// Stock levels equal the sums of their movements.
pub const LEDGER: &str = "stock is what its movements left";
/// Refunds of a charge add up and do not exceed it.
pub const REFUNDS: &str = "what goes back of a charge is what its refunds say, and never more than it captured";
/// The sum of an order is the sum of its lines.
pub const TOTALS: &str = "an order costs what its lines cost";
/// The payment fields of an order match its charge.
pub const ORDER_MONEY: &str = "an order has the money of its charge";
/// At most one open or paid charge for a purpose.
pub const ONE_CHARGE: &str = "one purpose has one charge that is open or paid";
/// At most one paid charge for a period.
pub const ONE_SUCCESS: &str = "a period is paid once";
/// Exactly one event for a paid order.
pub const ONE_EVENT: &str = "a paid order has one event";
/// At most one effect for an idempotency key.
pub const ONE_EFFECT_PER_KEY: &str = "a key acts once";
/// An effect of a call of an agent has exactly one approval.
pub const CALL_IS_APPROVED: &str = "no call of an agent acts without approval";
/// At most one effect of a call of an agent.
pub const ONE_EFFECT_PER_CALL: &str = "a call of an agent acts once";
/// At most one valid code for a phone, which can be used once.
pub const ONE_CODE: &str = "a phone has one live code, which lets in once";
/// Tenant isolation: no row refers to another project.
pub const TENANT_ISOLATION: &str = "no project sees another";
/// Captured amounts are equal at the acquirer and in the database.
pub const CAPTURED: &str = "what the acquirer captured is what the books say";
/// No unknown outcome remains.
pub const NO_UNKNOWN_OUTCOME: &str = "nothing stays in doubt";
/// A granted period was paid.
pub const GRANTED_IS_PAID: &str = "a period that is granted was paid";
/// At most one active subscription of a customer to a plan.
pub const ONE_LIVE: &str = "a customer has one subscription that is charged for a plan";
/// A subscription has a next step, or its customer was notified that it is on hold.
pub const HAS_NEXT_STEP: &str =
    "a subscription that is not canceled goes on, or its customer was told that it is on hold";
/// The last notice of a subscription matches its state.
pub const NOTICE_MATCHES_STATE: &str = "the last notice of a subscription is true of it";
/// Failing work ends.
pub const FAILING_WORK_ENDS: &str = "no work fails again and again without end";
/// Delivered webhooks were accepted.
pub const DELIVERED: &str = "what counts as delivered was accepted by its receiver";
/// The storage does not fail.
pub const STORAGE: &str = "the storage answers";
/// Derived data matches its source.
pub const DERIVED_DATA_MATCHES: &str = "what is kept beside its source is what its source makes of it";

/// All rules about rows. Rules about the acquirer's money, login codes and tenant isolation are checked elsewhere.
pub const INVARIANTS: &[Invariant] = &[
    rule(STOCK, EveryStep, "inventories t WHERE t.quantity < t.reserved OR t.reserved < 0"),
    rule(
        LEDGER,
        EveryStep,
        "inventories t WHERE NOT EXISTS (SELECT 1 FROM stock_movements m WHERE m.id = (SELECT max(x.id) FROM \
         stock_movements x WHERE x.project_id = t.project_id AND x.inventory_id = t.id) AND m.quantity_after = t.quantity \
         AND m.reserved_after = t.reserved)",
    ),
    rule(
        REFUNDS,
        EveryStep,
        "charges t WHERE {since} AND (t.refunded + t.refunding > t.captured OR t.refunded <> (SELECT coalesce(sum(r.amount), \
         0) FROM refunds r WHERE r.charge_id = t.id AND r.state = 'succeeded') OR t.refunding <> (SELECT \
         coalesce(sum(r.amount), 0) FROM refunds r WHERE r.charge_id = t.id AND r.state IN ('due', 'pending')))",
    ),
    rule(
        TOTALS,
        EveryStep,
        "orders t WHERE {since} AND (t.final_price <> t.original_price - t.product_discount - t.promo_discount OR \
         t.final_price <> (SELECT coalesce(sum(r.total), 0) FROM reservations r WHERE r.order_id = t.id) OR \
         t.refunded + t.refunding - (SELECT coalesce(sum(r.refunded_amount), 0) FROM reservations r WHERE r.order_id = t.id) \
         NOT BETWEEN 0 AND t.delivery_price)",
    ),
    rule(
        ORDER_MONEY,
        EveryStep,
        "orders t JOIN charges c ON c.purpose = 'order' AND c.purpose_id = t.id AND c.state = 'succeeded' WHERE {since} AND \
         (t.captured <> c.captured OR t.refunded <> c.refunded OR t.refunding <> c.refunding)",
    ),
    rule(
        ONE_CHARGE,
        EveryStep,
        "(SELECT 1 FROM charges t WHERE t.state IN ('prepared', 'pending') OR (t.state = 'succeeded' AND \
         t.purpose <> 'subscription' AND {since}) GROUP BY t.purpose, t.purpose_id HAVING count(*) > 1) AS twice",
    ),
    rule(
        ONE_SUCCESS,
        EveryStep,
        "(SELECT 1 FROM subscription_payments WHERE state = 'succeeded' GROUP BY subscription_id, period HAVING count(*) > \
         1) AS twice",
    ),
    rule(
        ONE_EVENT,
        EveryStep,
        "orders t LEFT JOIN (SELECT json_extract(payload, '$.data.order_id') AS id, count(*) AS told FROM outbox_events WHERE \
         topic = 'order.paid' AND created_at >= {moment} GROUP BY 1) e ON e.id = t.id WHERE t.application_id IS NOT NULL AND \
         ((t.paid_at >= {moment} AND coalesce(e.told, 0) <> 1 AND NOT EXISTS (SELECT 1 FROM order_events h WHERE \
         h.order_id = t.id AND h.event = 'paid_after_cancellation' AND e.told IS NULL)) OR (t.paid_at IS NULL AND \
         e.told > 0))",
    ),
    rule(
        ONE_EFFECT_PER_KEY,
        EveryStep,
        "orders t WHERE {since} AND t.address LIKE 'Request %' AND (SELECT count(*) FROM orders o WHERE \
         o.address = t.address) > 1",
    ),
    rule(
        TENANT_ISOLATION,
        EveryStep,
        "orders t JOIN counterparties c ON c.id = t.counterparty_id LEFT JOIN applications a ON a.id = t.application_id \
         WHERE {since} AND (c.project_id <> t.project_id OR a.project_id <> t.project_id)",
    ),
    rule(
        TENANT_ISOLATION,
        EveryDay,
        "reservations r JOIN orders o ON o.id = r.order_id LEFT JOIN inventories i ON i.id = r.inventory_id JOIN \
         nomenclatures n ON n.id = r.nomenclature_id WHERE o.project_id <> r.project_id OR i.project_id <> r.project_id OR \
         n.project_id <> r.project_id",
    ),
    rule(
        TENANT_ISOLATION,
        EveryDay,
        "charges c JOIN counterparties p ON p.id = c.counterparty_id WHERE p.project_id <> c.project_id",
    ),
    rule(
        TENANT_ISOLATION,
        EveryDay,
        "webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id JOIN outbox_events e ON e.id = d.outbox_event_id WHERE \
         w.project_id <> d.project_id OR e.application_id <> w.application_id",
    ),
    rule(
        GRANTED_IS_PAID,
        EveryDay,
        "subscriptions s WHERE s.period_number IS NOT NULL AND NOT EXISTS (SELECT 1 FROM subscription_payments a WHERE \
         a.subscription_id = s.id AND a.period = s.period_number AND a.state = 'succeeded')",
    ),
    rule(
        GRANTED_IS_PAID,
        EveryDay,
        "subscription_payments a JOIN charges c ON c.id = a.charge_id JOIN orders o ON o.id = a.order_id WHERE \
         a.state = 'succeeded' AND (c.state <> 'succeeded' OR o.paid_at IS NULL)",
    ),
    rule(
        ONE_LIVE,
        EveryStep,
        "(SELECT 1 FROM (SELECT id, counterparty_id, nomenclature_id FROM subscriptions WHERE status <> 'canceled' UNION SELECT \
         s.id, s.counterparty_id, k.nomenclature_id FROM subscriptions s JOIN subscription_consents k ON k.id = \
         s.next_consent_id WHERE s.status <> 'canceled') AS claimed GROUP BY counterparty_id, nomenclature_id HAVING \
         count(*) > 1) AS twice",
    ),
    rule(
        HAS_NEXT_STEP,
        EveryDay,
        "subscriptions s WHERE s.status IN ('active', 'past_due') AND s.wake_at IS NULL AND NOT EXISTS (SELECT 1 FROM \
         subscription_payments a JOIN charges c ON c.id = a.charge_id WHERE a.subscription_id = s.id AND c.state IN \
         ('prepared', 'pending')) AND NOT (s.parked IS NOT NULL AND EXISTS (SELECT 1 FROM notifications n JOIN \
         subscription_payments a ON a.order_id = n.order_id WHERE a.subscription_id = s.id AND n.code = \
         'subscription_on_hold'))",
    ),
    rule(
        NOTICE_MATCHES_STATE,
        EveryDay,
        "subscriptions s JOIN counterparties c ON c.id = s.counterparty_id JOIN notifications n ON n.id = (SELECT max(x.id) \
         FROM notifications x JOIN subscription_payments a ON a.order_id = x.order_id WHERE a.subscription_id = s.id AND \
         x.code LIKE 'subscription%') WHERE c.deleted_at IS NULL AND CASE WHEN s.status = 'canceled' THEN n.code IN \
         ('subscription_activated', 'subscription_renewed', 'subscription_resumed', 'subscription_charge_ahead') ELSE \
         n.code IN ('subscription_canceled', 'subscription_ended') END",
    ),
    rule(
        CALL_IS_APPROVED,
        EveryStep,
        "tasks t WHERE {since} AND t.title LIKE 'Agent call %' AND 1 <> (SELECT count(*) FROM agent_actions a WHERE \
         a.project_id = t.project_id AND a.body = '{\"title\":\"' || t.title || '\"}' AND a.decided_by IS NOT NULL AND \
         (a.state IN ('approved', 'executed', 'reported') AND (a.status_code IS NULL OR a.status_code < 400) OR \
         a.error_code = 'agent_call_interrupted'))",
    ),
    rule(
        ONE_EFFECT_PER_CALL,
        EveryStep,
        "(SELECT 1 FROM tasks WHERE title LIKE 'Agent call %' GROUP BY project_id, title HAVING count(*) > 1) AS twice",
    ),
    rule(FAILING_WORK_ENDS, EveryStep, "subscriptions WHERE work_attempts > 11"),
    rule(NO_UNKNOWN_OUTCOME, AtRest, "charges WHERE state IN ('prepared', 'pending') OR parked_at IS NOT NULL"),
    rule(NO_UNKNOWN_OUTCOME, AtRest, "refunds WHERE state IN ('due', 'pending') OR parked_at IS NOT NULL"),
    rule(NO_UNKNOWN_OUTCOME, AtRest, "order_refunds WHERE state = 'pending'"),
    rule(NO_UNKNOWN_OUTCOME, AtRest, "outbox_events WHERE dispatched_at IS NULL"),
    rule(NO_UNKNOWN_OUTCOME, AtRest, "webhook_deliveries WHERE status = 'pending'"),
    rule(NO_UNKNOWN_OUTCOME, AtRest, "subscription_payments WHERE state IN ('processing', 'needs_reconciliation')"),
    rule(NO_UNKNOWN_OUTCOME, AtRest, "subscriptions WHERE status = 'charging'"),
    rule(NO_UNKNOWN_OUTCOME, AtRest, "orders WHERE status_id = 2"),
    rule(NO_UNKNOWN_OUTCOME, AtRest, "agent_actions WHERE state = 'approved'"),
    rule(
        CAPTURED,
        AtRest,
        "charges c WHERE c.state = 'succeeded' AND EXISTS (SELECT 1 FROM subscription_payments a WHERE a.charge_id = c.id AND \
         a.state = 'failed') AND c.amount <> c.refunded",
    ),
];

/// Database in which rules are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

/// Returns one query for all rules checked at that time: a row for each, with the number of rows that break it.
/// Without `since` all rows are checked.
pub fn query(when: When, since: Option<DateTime<Utc>>, dialect: Dialect) -> String {
    let moment = since.unwrap_or(DateTime::UNIX_EPOCH).format("%Y-%m-%d %H:%M:%S");
    let moment = format!("'{moment}'");
    let since = format!("t.updated_at >= {moment}");
    let looked_at = INVARIANTS.iter().filter(|rule| rule.when <= when);
    let counts = looked_at.map(|rule| {
        let name = rule.name.replace('\'', "''");
        let rows = rule.rows.replace("{since}", &since).replace("{moment}", &moment);
        let rows = match dialect {
            Dialect::Sqlite => rows,
            Dialect::Postgres => rows.replace(
                "json_extract(payload, '$.data.order_id')",
                "CAST(CAST(payload AS json) -> 'data' ->> 'order_id' AS bigint)",
            ),
        };
        format!("SELECT '{name}' AS name, count(*) AS number FROM {rows}")
    });
    counts.collect::<Vec<_>>().join(" UNION ALL ")
}
