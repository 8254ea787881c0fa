//! Previews of line changes for staff.

use super::*;

/// Stock level, change in stock and change in reservation of a preview.
fn moved(preview: &OrderPreview) -> Vec<(i64, i64, i64)> {
    preview.stock.iter().map(|effect| (effect.inventory.get(), effect.quantity, effect.reserved)).collect()
}

#[tokio::test]
async fn a_preview_of_other_lines_shows_prices_and_stock_and_commits_nothing() {
    let unpaid = order(OrderStatus::Created, vec![line(1, 1, 1, 3, 100)]);
    // The store and the acquirer expect no calls: any call fails the test.
    let fixture = LineFixture::finding(vec![unpaid.clone()]);
    let (seen, preview) = fixture.service().preview_lines(&editor(), id(), &command(set(1, 5))).await.unwrap();
    assert_eq!((seen, moved(&preview)), (unpaid.clone(), vec![(1, 0, 2)]));
    assert_eq!((preview.difference, preview.totals.final_price), (200, money(500)));
    let shown: Vec<_> = preview.lines.iter().map(|line| (line.id, line.quantity.get(), line.total.minor())).collect();
    assert_eq!(shown, [(Some(line_id(1)), 5, 500)]);
    assert!(!preview.new_payment && preview.refund.is_none());
    let fixture = LineFixture::finding(vec![unpaid]);
    let (_, same) = fixture.service().preview_lines(&editor(), id(), &command(set(1, 3))).await.unwrap();
    assert_eq!((moved(&same), same.difference, same.totals.final_price), (vec![], 0, money(300)));
}

#[tokio::test]
async fn a_preview_shows_that_an_open_payment_would_be_replaced() {
    let waiting = online(true);
    let known = charge(&waiting, Some("pay-1"));
    let mut fixture = LineFixture::finding(vec![waiting.clone()]);
    fixture.charges.expect_open_for().times(1).returning(move |_| Ok(Some(known.clone())));
    let (_, preview) = fixture.service().preview_lines(&editor(), id(), &command(set(1, 2))).await.unwrap();
    assert!(preview.new_payment);
    assert_eq!((preview.difference, moved(&preview)), (-100, vec![(1, 0, -1)]));
    // Without a change the payment stays, and the acquirer is not called.
    let fixture = LineFixture::finding(vec![waiting.clone()]);
    let (_, same) = fixture.service().preview_lines(&editor(), id(), &command(set(1, 3))).await.unwrap();
    assert!(!same.new_payment);
    // A charge that is no longer open may have been paid.
    let mut fixture = LineFixture::finding(vec![waiting]);
    fixture.charges.expect_open_for().returning(|_| Ok(None));
    let outcome = fixture.service().preview_lines(&editor(), id(), &command(set(1, 2))).await;
    assert_eq!(refusal(outcome), LinesRefused::PaymentOutcomeUnknown);
}

#[tokio::test]
async fn a_preview_of_a_paid_order_shows_the_refund() {
    let paid = order(OrderStatus::Paid, vec![line(1, 1, 1, 3, 100), line(2, 2, 5, 1, 50)]);
    let fixture = LineFixture::finding(vec![paid.clone()]);
    let (_, preview) = fixture.service().preview_lines(&editor(), id(), &command(set(1, 1))).await.unwrap();
    assert_eq!((moved(&preview), preview.difference, preview.left), (vec![(1, 0, -2)], -200, money(150)));
    let back: Vec<_> =
        preview.lines.iter().map(|line| (line.refunded_quantity, line.refunded_amount.minor())).collect();
    assert_eq!(back, [(2, 200), (0, 0)]);
    assert_eq!((preview.status, preview.refund.map(|refund| refund.amount)), (OrderStatus::Paid, Some(money(200))));
    let kept = LineCommand { restock: Some(false), ..command(set(1, 1)) };
    let fixture = LineFixture::finding(vec![paid.clone()]);
    let (_, preview) = fixture.service().preview_lines(&editor(), id(), &kept).await.unwrap();
    assert_eq!(moved(&preview), [(1, -2, -2)], "written off");
    let mut sold = paid;
    sold.lines[0].state = ReservationState::Sold;
    let (_, preview) =
        LineFixture::finding(vec![sold]).service().preview_lines(&editor(), id(), &command(set(1, 1))).await.unwrap();
    assert_eq!(moved(&preview), [(1, 2, 0)], "back in stock");
}
