DROP TABLE subscription_claims;
