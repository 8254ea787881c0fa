DROP TABLE refund_comparisons;
DROP TABLE verifications;
DROP TABLE saved_payment_methods;
DROP TABLE receipts;
DROP TABLE receipt_settings;
DROP TABLE refunds;
DROP TABLE charges;
