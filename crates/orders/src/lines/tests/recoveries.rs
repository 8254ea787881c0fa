//! Storage failures while a payment is canceled.

use kontor_kernel::StoreError;

use super::*;

fn unavailable() -> StoreError {
    StoreError::Unavailable("no route".to_owned())
}

#[tokio::test]
async fn a_storage_failure_after_a_withdrawal_leaves_no_order_without_a_payment() {
    let (before, after) = (online(true), online(false));
    let open = charge(&before, Some("pay-1"));
    let mut fixture = LineFixture::finding(vec![before, after.clone()]);
    let (found, canceled) = (open.clone(), payment(&open, GatewayStatus::Canceled));
    let mut looks = 0;
    fixture.charges.expect_open_for().times(2).returning(move |_| {
        looks += 1;
        Ok((looks == 1).then(|| found.clone()))
    });
    fixture.gateway.expect_cancel().once().return_const(Answer::Known(canceled));
    fixture.charges.expect_record().returning(|_, _, _| Ok(kontor_payments::change::Change::Done));
    let mut commits = 0;
    fixture.store.expect_change().times(2).returning(move |_, decide: Decision| {
        commits += 1;
        if commits == 1 {
            return Err(unavailable().into());
        }
        let update = decide(ProjectScoped::new(ProjectId::new(1).unwrap(), after.clone()))?;
        assert_eq!((update.rework, update.payment.map(|payment| payment.amount)), (None, Some(money(300))));
        Ok(Some(open.clone()))
    });
    fixture.gateway.expect_create().once().return_const(Answer::Unknown { why: "late".to_owned(), retry_after: None });
    let outcome = fixture.service().change_lines(&editor(), id(), &command(set(1, 2))).await;
    assert!(matches!(outcome, Err(OrderError::Store(StoreError::Unavailable(_)))), "{outcome:?}");
}

#[tokio::test]
async fn a_withdrawal_that_could_not_be_recorded_is_found_out_and_asked_for_again() {
    let (before, after) = (online(true), online(false));
    let open = charge(&before, Some("pay-1"));
    let mut fixture = LineFixture::finding(vec![before, after.clone()]);
    let (found, canceled) = (open.clone(), payment(&open, GatewayStatus::Canceled));
    fixture.charges.expect_open_for().returning(move |_| Ok(Some(found.clone())));
    fixture.gateway.expect_cancel().once().return_const(Answer::Known(canceled.clone()));
    // Found by reading, since the answer was not recorded.
    fixture.gateway.expect_read().times(2).return_const(Reading::Known(canceled));
    let mut records = 0;
    fixture.charges.expect_record().times(4).returning(move |_, _, _| {
        records += 1;
        // First the answer to the cancellation, then the first read. Then the read outcome and the outcome of
        // the new payment are recorded.
        if records <= 2 { Err(unavailable()) } else { Ok(kontor_payments::change::Change::Done) }
    });
    fixture.store.expect_change().once().returning(move |_, decide: Decision| {
        let update = decide(ProjectScoped::new(ProjectId::new(1).unwrap(), after.clone()))?;
        assert_eq!(update.payment.map(|payment| payment.amount), Some(money(300)));
        Ok(Some(open.clone()))
    });
    fixture.gateway.expect_create().once().return_const(Answer::Unknown { why: "late".to_owned(), retry_after: None });
    let outcome = fixture.service().change_lines(&editor(), id(), &command(set(1, 2))).await;
    assert!(matches!(outcome, Err(OrderError::Store(StoreError::Unavailable(_)))), "{outcome:?}");
}
