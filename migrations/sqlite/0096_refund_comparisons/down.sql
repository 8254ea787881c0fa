DROP TABLE refund_comparisons;
