DROP INDEX nomenclatures_plans;
DROP TABLE subscription_nomenclatures;
