-- Plans that are charged now or from the next period on: a customer has each in one subscription. A claim counts while its
-- subscription is not canceled and names the plan; others are replaced. Where two subscriptions of a customer name a plan
-- already, the older one has the claim, and both go on.
CREATE TABLE subscription_claims (
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    nomenclature_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL REFERENCES subscriptions (id),
    PRIMARY KEY (counterparty_id, nomenclature_id)
);

INSERT INTO subscription_claims (counterparty_id, nomenclature_id, subscription_id)
SELECT named.counterparty_id, named.nomenclature_id, min(named.id) FROM (
    SELECT s.counterparty_id, s.nomenclature_id, s.id FROM subscriptions s WHERE s.status <> 'canceled'
    UNION ALL
    SELECT s.counterparty_id, n.nomenclature_id, s.id FROM subscriptions s
    JOIN subscription_consents n ON n.id = s.next_consent_id WHERE s.status <> 'canceled'
) AS named GROUP BY named.counterparty_id, named.nomenclature_id;
