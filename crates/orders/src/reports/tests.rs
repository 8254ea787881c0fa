use kontor_kernel::testing::staff_with;

use super::*;
use crate::ports::MockReportReader;

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn period(first: &str, last: &str, step: ReportStep) -> ReportPeriod {
    ReportPeriod::new(day(first), day(last), step).unwrap()
}

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn sales(orders: u64, revenue: i64) -> Sales {
    Sales { orders, revenue: money(revenue), ..Sales::default() }
}

#[test]
fn a_period_is_bounded_by_its_step() {
    let first = day("2024-01-01");
    for (last, step, expected) in [
        ("2024-01-01", ReportStep::Day, Ok(1)),
        ("2024-12-31", ReportStep::Day, Ok(366)),
        ("2025-01-01", ReportStep::Day, Err(ReportPeriodError::TooLong(366))),
        ("2024-01-31", ReportStep::Hour, Ok(31)),
        ("2024-02-01", ReportStep::Hour, Err(ReportPeriodError::TooLong(31))),
        ("2023-12-31", ReportStep::Day, Err(ReportPeriodError::Backwards)),
        ("9999-12-31", ReportStep::Day, Err(ReportPeriodError::TooLong(366))),
    ] {
        assert_eq!(ReportPeriod::new(first, day(last), step).map(ReportPeriod::days), expected, "{last}");
    }
}

#[test]
fn a_period_ends_today_and_has_thirty_days_unless_requested_otherwise() {
    let (today, other) = (day("2026-03-01"), day("2026-02-20"));
    for (first, last, expected) in [
        (None, None, Ok((day("2026-01-31"), today))),
        (Some(other), None, Ok((other, today))),
        (None, Some(other), Ok((day("2026-01-22"), other))),
        (Some(today), Some(other), Err(ReportPeriodError::Backwards)),
    ] {
        let period = ReportPeriod::requested(first, last, today, ReportStep::Day);
        assert_eq!(period.map(|period| (period.first(), period.last())), expected);
    }
}

#[test]
fn spans_leave_nothing_out_when_clocks_change() {
    let berlin = Zone::parse("Europe/Berlin").unwrap();
    // 23 hours in March, 25 in October.
    for (date, hours) in [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)] {
        let whole = period(date, date, ReportStep::Day);
        let (since, until) = whole.bounds(berlin);
        assert_eq!((until - since).num_hours(), hours, "{date}");
        assert_eq!(whole.spans(berlin), [Span { row: 0, since, until }]);
        let spans = period(date, date, ReportStep::Hour).spans(berlin);
        assert_eq!((spans.len(), spans[0].since, spans[23].until), (24, since, until));
        assert!(spans.windows(2).all(|pair| pair[0].until == pair[1].since));
        assert_eq!((spans[2].until - spans[2].since).num_hours(), hours - 23, "{date}");
    }
}

#[test]
fn each_day_and_each_hour_has_its_row() {
    let days = period("2026-02-27", "2026-03-01", ReportStep::Day);
    let spans = days.spans(Zone::default());
    assert_eq!(spans.iter().map(|span| span.row).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(spans[2].since.to_rfc3339(), "2026-02-28T21:00:00+00:00");
    let report = SalesReport::of(days, &[(1, sales(2, 500)), (2, sales(1, 101))]).unwrap();
    let expected = [("2026-02-27", sales(0, 0)), ("2026-02-28", sales(2, 500)), ("2026-03-01", sales(1, 101))];
    assert_eq!(report.rows, expected.map(|(date, sales)| (Bucket::Day(day(date)), sales)));
    assert_eq!((report.total, report.total.average()), (sales(3, 601), Some(money(200))));

    let hours = period("2026-03-01", "2026-03-02", ReportStep::Hour);
    assert_eq!(hours.spans(Zone::UTC).len(), 48);
    let report = SalesReport::of(hours, &[(9, sales(1, 100)), (9, sales(1, 50)), (23, sales(1, 1))]).unwrap();
    assert_eq!((report.rows.len(), report.rows[9]), (24, (Bucket::Hour(9), sales(2, 150))));
    assert_eq!((report.rows[0].1.average(), report.total), (None, sales(3, 151)));
    assert_eq!(SalesReport::of(hours, &[(0, sales(1, i64::MAX)), (1, sales(1, 1))]), None);
}

#[test]
fn the_turn_of_the_stock_is_rounded_down() {
    let vase = ItemSales {
        item: Named { id: NomenclatureId::new(1).unwrap(), name: "Vase".to_owned() },
        article: None,
        quantity: 9,
        revenue: money(900),
        returned: 1,
        refunded: money(100),
        available: Some(10),
    };
    assert_eq!((vase.sold_per_day(3).as_str(), vase.days_of_stock(3)), ("2.66", Some(3)));
    let returned = ItemSales { returned: 9, ..vase.clone() };
    assert_eq!((returned.sold_per_day(3).as_str(), returned.days_of_stock(3)), ("0.00", None));
    let service = ItemSales { available: None, ..vase };
    assert_eq!(service.days_of_stock(3), None);
}

#[tokio::test]
async fn figures_need_their_permission_and_are_bounded() {
    let mut reports = MockReportReader::new();
    reports
        .expect_sales()
        .withf(|project, spans, most| project.get() == 1 && spans.len() == 1 && *most == MAX_ORDERS)
        .returning(|_, _, _| Ok(None));
    reports.expect_best_sellers().withf(|query, _| query.limit == MAX_ITEMS).returning(|_, most| {
        assert_eq!(most, MAX_ORDERS_BY_ITEM);
        Ok(None)
    });
    let service = ReportService { reports: Arc::new(reports) };
    let (one_day, zone) = (period("2026-03-01", "2026-03-01", ReportStep::Day), Zone::UTC);
    let viewer = staff_with([Permission::view(Resource::Statistics)]);
    let sales = service.orders(&viewer, one_day, zone).await;
    assert!(matches!(sales, Err(ReportError::Refused(ReportRefusal::TooManyOrders(MAX_ORDERS)))));
    let items = service.items(&viewer, one_day, zone, ItemOrder::Revenue).await;
    assert!(matches!(items, Err(ReportError::Refused(ReportRefusal::TooManyOrders(MAX_ORDERS_BY_ITEM)))));
    let seller = staff_with([Permission::view(Resource::Orders)]);
    assert!(matches!(service.orders(&seller, one_day, zone).await, Err(ReportError::Denied(_))));
    assert!(matches!(service.items(&seller, one_day, zone, ItemOrder::Revenue).await, Err(ReportError::Denied(_))));
}
